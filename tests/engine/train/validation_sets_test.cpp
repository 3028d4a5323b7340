#include "engine/train/run_settings.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

std::string refused(const std::vector<std::string>& words) {
    return input_error_of([&] { validation_sets(words); });
}

}  // namespace

TEST_CASE("validation sets: files without names are one set", "[train]") {
    CHECK(validation_sets({}).empty());
    using Sets = std::vector<ValidationSet>;
    CHECK(validation_sets({"a.bin", "b"}) == Sets{{"", {"a.bin", "b"}}});
    CHECK(validation_sets({"/x=y/a.bin"}) == Sets{{"", {"/x=y/a.bin"}}});
    const TempFolder temp;
    const std::string file = temp.write("odd=name.bin", "x");
    CHECK(validation_sets({file}) == Sets{{"", {file}}});
}

TEST_CASE("validation sets: a name begins one, which has the files that follow", "[train]") {
    const auto sets = validation_sets({"chats=a.bin", "b.bin", "code=/x=y/c.bin"});
    REQUIRE(sets.size() == 2);
    CHECK(sets[0] == ValidationSet{"chats", {"a.bin", "b.bin"}});
    CHECK(sets[1] == ValidationSet{"code", {"/x=y/c.bin"}});
    CHECK(files_of(sets) == std::vector<std::string>{"a.bin", "b.bin", "/x=y/c.bin"});
}

TEST_CASE("validation sets: what has no name or file is refused", "[train]") {
    CHECK_THAT(refused({"=a.bin"}), ContainsSubstring("--validation =a.bin: expected NAME=FILE"));
    CHECK_THAT(refused({"chats="}), ContainsSubstring("--validation chats=: expected NAME=FILE"));
    CHECK_THAT(refused({"x=a", "x=b"}), ContainsSubstring("x has a set already"));
    CHECK_THAT(refused({"a.bin", "x=b"}), ContainsSubstring("a.bin comes before it without"));
}
