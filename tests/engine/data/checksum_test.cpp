#include "engine/data/checksum.h"

#include <fmt/format.h>

#include <string_view>

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

TEST_CASE("checksum: values are those of xxhsum", "[data]") {
    // printf abc | xxhsum -H3
    Checksum checksum;
    checksum.add(std::as_bytes(std::span(std::string_view("a"))));
    checksum.add(std::as_bytes(std::span(std::string_view("bc"))));
    CHECK(checksum_text({{"a (1) = b", checksum.value()}}) ==
          "XXH3 (a (1) = b) = 78af5f94892f3950\n");
    const auto read = parse_checksums("XXH3 (a (1) = b) = 78af5f94892f3950\n", "f");
    REQUIRE(read.size() == 1);
    CHECK(read[0].name == "a (1) = b");
    CHECK(read[0].value == checksum.value());
    for (const char* wrong : {"XXH3 (a) = 78af5f94892f395", "XXH3 (a) = 78af5f94892f395x", "x", "",
                              "XXH64 (a) = 78af5f94892f3950"})
        CHECK(input_error_of([&] { parse_checksums(fmt::format("{}\n", wrong), "f"); }) ==
              fmt::format("f: line 1 is \"{}\", expected XXH3 (name) = 16 hexadecimal digits",
                          wrong));
}
