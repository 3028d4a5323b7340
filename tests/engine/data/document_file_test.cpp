#include "engine/data/document_file.h"

#include "engine/data/batch_sampler.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

using Begins = std::vector<std::int64_t>;

/// Ten tokens, 0 to 9, and where their documents begin.
std::string write_tokens(const TempFolder& temp, const Begins& begins) {
    std::vector<std::uint16_t> ids(10);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint16_t>(i);
    temp.write_numbers("a.bin.documents", begins);
    return temp.write_numbers("a.bin", ids);
}

}  // namespace

TEST_CASE("documents: their beginnings within a range of tokens, and that of the range", "[data]") {
    const TempFolder temp;
    const DocumentFile file(write_tokens(temp, {0, 1, 4, 9}), 10);
    CHECK(file.begins(0, 10) == Begins{0, 1, 4, 9});
    CHECK(file.begins(1, 3) == Begins{1});
    CHECK(file.begins(2, 3) == Begins{2, 4});
    CHECK(file.begins(4, 5) == Begins{4});
    CHECK(file.begins(5, 5) == Begins{5, 9});
    CHECK(file.begins(9, 1) == Begins{9});
    CHECK(DocumentFile(write_tokens(temp, {0}), 10).begins(3, 7) == Begins{3});
}

TEST_CASE("documents: a batch knows where they begin, and each sequence begins one", "[data]") {
    const TempFolder temp;
    const std::string path = write_tokens(temp, {0, 1, 4, 9});
    BatchSampler sampler(open_tokens({path}, 10, true), 3, 3, 1);
    const Batch batch = sampler.next();
    // Windows of 3 tokens, and documents that begin with tokens 1, 4 and 9.
    std::vector<std::int32_t> expected;
    for (std::size_t i = 0; i < batch.inputs.size(); ++i)
        if (i % 3 == 0 || batch.inputs[i] == 1 || batch.inputs[i] == 4)
            expected.push_back(static_cast<std::int32_t>(i));
    CHECK(batch.documents == expected);
    CHECK(BatchSampler(open_tokens({path}, 10), 3, 3, 1).next().documents.empty());
}

TEST_CASE("documents: a fingerprint of their own", "[data]") {
    const TempFolder temp;
    const std::string path = write_tokens(temp, {0, 1, 4, 9});
    const TokenSource with = open_tokens({path}, 10, true), without = open_tokens({path}, 10);
    CHECK(with.fingerprint() == without.fingerprint());
    CHECK(with.documents_fingerprint().size() == 16);
    CHECK(without.documents_fingerprint().empty());
    write_tokens(temp, {0, 1, 5, 9});
    CHECK(open_tokens({path}, 10, true).documents_fingerprint() != with.documents_fingerprint());
}

TEST_CASE("documents: a wrong file is refused with what is wrong", "[data]") {
    const TempFolder temp;
    const auto error = [&](const Begins& begins) {
        const std::string path = write_tokens(temp, begins);
        return input_error_of([&] { open_tokens({path}, 10, true).documents_fingerprint(); });
    };
    const std::string name = temp.path("a.bin.documents");
    CHECK(error({1, 3}) == name +
                               ": document 0 begins at token 1, expected 0; prepare the data "
                               "again");
    CHECK(error({0, 3, 3}) == name +
                                  ": document 2 begins at token 3, expected a token from 4 to 9; "
                                  "prepare the data again");
    CHECK(error({0, 10}) == name +
                                ": document 1 begins at token 10, expected a token from 1 to 9; "
                                "prepare the data again");
    const std::string sizes =
        " bytes, expected 8 for each document, at least 1 and at most one for each of 10 tokens; "
        "prepare the data again";
    CHECK(error({}) == name + ": is empty; write or download it again");
    const std::string path = write_tokens(temp, {0});
    temp.write("a.bin.documents", "123456789");
    CHECK(input_error_of([&] { open_tokens({path}, 10, true); }) == name + ": has 9" + sizes);
    std::filesystem::remove(name);
    CHECK(input_error_of([&] { open_tokens({path}, 10, true); }) ==
          "--attend-within document: " + name + " is missing, which says where the documents of " +
              path + " begin; prepare the data with ./dev data, or leave the option out");
    CHECK(input_error_of([&] { open_tokens({path}, 10); }).empty());
}
