#include <sys/stat.h>

#include "engine/data/files.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

TEST_CASE("mapped file: shows the bytes of the file, also after being moved", "[data]") {
    const TempFolder temp;
    MappedFile first(temp.write("a", "abc"));
    MappedFile file(std::move(first));
    REQUIRE(file.size() == 3);
    CHECK(file.bytes()[2] == std::byte{'c'});
    file = MappedFile(temp.write("b", "z"));
    REQUIRE(file.size() == 1);
    CHECK(file.bytes()[0] == std::byte{'z'});
    CHECK(file.path() == temp.path("b"));
}

TEST_CASE("mapped file: what cannot be mapped is named with what to do", "[data]") {
    const TempFolder temp;
    const auto message = [](const std::string& path) {
        return input_error_of([&] { MappedFile file(path); });
    };
    CHECK(message(temp.path("none")) == temp.path("none") + ": no such file; check the path");
    CHECK(message(temp.path()) ==
          temp.path() + ": is a folder, expected a file; name the file in it");
    CHECK(message(temp.write("empty", "")) ==
          temp.path("empty") + ": is empty; write or download it again");
    CHECK_THAT(message(temp.write("file", "x") + "/inside"),
               ContainsSubstring("cannot be read (Not a directory); check its permissions"));
    REQUIRE(::mkfifo(temp.path("pipe").c_str(), 0600) == 0);
    CHECK_THAT(message(temp.path("pipe")), ContainsSubstring("is a pipe or device"));
}
