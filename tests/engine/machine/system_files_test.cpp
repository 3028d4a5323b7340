#include "engine/machine/system_files.h"

#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

TEST_CASE("system files: lists of CPUs are read and written alike", "[machine]") {
    CHECK(parse_id_list("0-3,8\n") == std::vector<int>{0, 1, 2, 3, 8});
    CHECK(parse_id_list("5,1-2,2") == std::vector<int>{1, 2, 5});
    CHECK(parse_id_list("\n") == std::vector<int>{});
    for (const char* list : {"0-3,8", "0", "0-1", "0,2,4-6"})
        CHECK(format_id_list(*parse_id_list(list)) == list);
    CHECK(format_id_list({}).empty());
}

TEST_CASE("system files: what is no list of CPUs is unknown", "[machine]") {
    for (const char* text : {"3-1", "-1", "a", "1,,2", "1-", "0-9999999", "99999999999999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_id_list(text));
    }
}

TEST_CASE("system files: a field is found at the begin of a line only", "[machine]") {
    const std::string text = "SwapTotal:  7 kB\nTotal:\t5 kB  \nTotal: 6 kB\nShort: 12\nLast:";
    CHECK(field(text, "Total:") == "5 kB");
    CHECK(field(text, "Last:") == "");
    CHECK_FALSE(field(text, "otal:"));
    CHECK(kilobyte_field(text, "Total:") == 5120);
    CHECK_FALSE(kilobyte_field(text, "Short:"));
    CHECK_FALSE(kilobyte_field("Total: -1 kB", "Total:"));
    CHECK_FALSE(kilobyte_field("Total: 9223372036854775807 kB", "Total:"));
}

TEST_CASE("system files: missing files and folders in their place read as nothing", "[machine]") {
    FakeMachine machine;
    machine.file("proc/folder/file", " 12\n").file("proc/word", "max\n");
    const SystemFiles files(machine.root());
    CHECK(files.integer("proc/folder/file") == 12);
    CHECK_FALSE(files.integer("proc/word"));
    CHECK(files.text("proc/folder").empty());
    CHECK(files.text("proc/missing").empty());
    CHECK(files.names("proc") == std::vector<std::string>{"folder", "word"});
    CHECK(files.names("sys").empty());
}
