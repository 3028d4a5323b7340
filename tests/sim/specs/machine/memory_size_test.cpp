// Is every memory size read in its unit, and what is none refused?
#include <fmt/format.h>

#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {

TEST_CASE("memory size: memory sizes have decimal and binary units", "[machine]") {
    CHECK(parse_memory_size("1.5TB", "--host-memory") == 1.5e12);
    CHECK(parse_memory_size("512GiB", "--host-memory") == 549'755'813'888.0);
    CHECK(parse_memory_size("80e9", "--host-memory") == 80e9);
    CHECK(parse_memory_size("80000000000", "--host-memory") == 80e9);
    CHECK(parse_memory_size("2kib", "--host-memory") == 2048);
    CHECK(parse_memory_size("3MB", "--host-memory") == 3e6);
    CHECK(parse_memory_size("7b", "--host-memory") == 7);
}

TEST_CASE("memory size: what is no memory size names the option and the text", "[machine]") {
    for (const char* text : {"1.5XB", "-1GB", "0GB", "", "GB", "1.5 TB", "1,5TB", "nan", "inf",
                             "infGB", "1e400", "1e30TB", "0x10", "1GBs", "--1GB", "+1GB"}) {
        CAPTURE(text);
        CHECK_THAT(input_error_of([&] { parse_memory_size(text, "--host-memory"); }),
                   ContainsSubstring("--host-memory") &&
                       ContainsSubstring(fmt::format("\"{}\"", text)) &&
                       ContainsSubstring("1.5TB"));
    }
}

}  // namespace sluice
