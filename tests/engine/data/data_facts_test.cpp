#include "engine/data/data_facts.h"

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// A file of `./dev data`: 25 tokens, of which 10 are learned.
std::string write_prepared(const TempFolder& temp, std::int32_t sequence) {
    std::vector<std::int32_t> header(256);
    const std::vector<std::int32_t> numbers = {20240520, 1, 25, 10, 3, sequence, 2, 1, 90};
    std::copy(numbers.begin(), numbers.end(), header.begin());
    std::string mask(25, '\0');
    std::fill(mask.begin(), mask.begin() + 10, '\1');
    temp.write("a.bin.mask", mask);
    return temp.write("a.bin", TempFolder::bytes_of(header) +
                                   TempFolder::bytes_of(std::vector<std::uint16_t>(25, 7)));
}

}  // namespace

TEST_CASE("data facts: sequences, what is learned, and what is left out", "[data]") {
    const TempFolder temp;
    const std::string prepared = write_prepared(temp, 8);
    const DataFacts facts = data_facts(open_tokens({prepared}, 10), 8);
    CHECK(facts.sequences == 3);
    CHECK(facts.learned == 10);
    CHECK(facts.learned_share() == 0.4);
    CHECK(facts.at_ends == 0);  // the last token is a target
    CHECK(facts.cut_documents == 2);
    CHECK(facts.left_out_documents == 1);
    CHECK(facts.lost_tokens == 90);
    CHECK(facts.epochs(6) == 2);

    const std::string plain = temp.write_numbers("b.bin", std::vector<std::uint16_t>(30, 7));
    temp.write("b.bin.mask", std::string(15, '\0') + std::string(15, '\1'));
    const DataFacts both = data_facts(open_tokens({prepared, plain}, 10), 8);
    CHECK(both.tokens == 55);
    CHECK(both.sequences == 6);
    CHECK(both.learned == 25);
    CHECK(both.at_ends == 5);
}

TEST_CASE("data facts: Megatron's index says how wide the tokens are", "[data]") {
    const TempFolder temp;
    const std::vector<std::int32_t> ids = {7, 70'000, 3};
    const std::string path = temp.write_numbers("a.bin", ids);
    const auto index = [&](char code) {
        temp.write("a.idx", std::string("MMIDIDX\0\0", 9) + std::string("\1\0\0\0\0\0\0\0", 8) +
                                code + std::string(16, '\0'));
    };
    CHECK(open_tokens({path}, 100'000).shard(0).tokens() == 6);  // as nanoGPT's
    index(4);
    std::vector<std::int32_t> found(3);
    open_tokens({path}, 100'000).read(0, 0, found);
    CHECK(found == ids);
    index(8);
    CHECK(open_tokens({path}, 100'000).shard(0).tokens() == 6);
    index(7);  // floats
    CHECK(input_error_of([&] { open_tokens({path}, 100'000); }) ==
          temp.path("a.idx") +
              ": its code of a type is 7, expected 3 (int16), 4 (int32) or 8 (uint16); prepare the "
              "data again with one of these");
    temp.write("a.idx", "another index");
    CHECK(open_tokens({path}, 100'000).shard(0).tokens() == 6);
}

TEST_CASE("data facts: packed data has one length of sequences", "[data]") {
    const TempFolder temp;
    const TokenSource packed = open_tokens({write_prepared(temp, 8)}, 10);
    CHECK_FALSE(other_sequence(packed, 8));
    CHECK(other_sequence(packed, 4).value() ==
          temp.path("a.bin") +
              ": its documents are packed into sequences of 8 tokens, but --seq is 4, which would "
              "cut them; give --seq 8, or prepare the data again with --seq 4");
    CHECK_FALSE(other_sequence(open_tokens({write_prepared(temp, 0)}, 10), 4));
}
