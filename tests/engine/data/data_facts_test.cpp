#include "engine/data/data_facts.h"

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// A file of `./dev data`: 25 tokens, of which 10 are learned.
std::string write_prepared(const TempFolder& temp, std::int32_t sequence) {
    std::vector<std::int32_t> header(256);
    const std::vector<std::int32_t> numbers = {20240520, 1, 25, 10, 3, sequence, 2, 1};
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
    CHECK(facts.epochs(6) == 2);

    const std::string plain = temp.write_numbers("b.bin", std::vector<std::uint16_t>(30, 7));
    temp.write("b.bin.mask", std::string(15, '\0') + std::string(15, '\1'));
    const DataFacts both = data_facts(open_tokens({prepared, plain}, 10), 8);
    CHECK(both.tokens == 55);
    CHECK(both.sequences == 6);
    CHECK(both.learned == 25);
    CHECK(both.at_ends == 5);
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
