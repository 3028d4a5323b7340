#include "engine/data/files.h"

#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "engine/data/batch_sampler.h"
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

TEST_CASE("read file: a file that becomes shorter is an error of the input", "[data]") {
    const TempFolder temp;
    const ReadFile file(temp.write("a", "0123456789"));
    std::array<std::byte, 4> bytes{};
    file.read(6, bytes);
    CHECK(bytes[3] == std::byte{'9'});
    std::filesystem::resize_file(temp.path("a"), 8);
    CHECK(input_error_of([&] { file.read(6, bytes); }) ==
          temp.path("a") +
              ": has 8 bytes, but had 10 when it was opened; restore it and give --resume");
}

TEST_CASE("tokens: data that is cut during a run is told, and the position stays", "[data]") {
    const TempFolder temp;
    const std::string text(64, 'a');
    BatchSampler sampler(open_tokens({temp.write("a.txt", text)}, 256), 4, 7, 1);
    sampler.next();
    std::filesystem::resize_file(temp.path("a.txt"), 1);
    CHECK_THAT(input_error_of([&] { sampler.next(); }), ContainsSubstring("but had 64 when"));
    CHECK(sampler.position() == 4);
}

TEST_CASE("tokens: the fingerprint changes with any token and their order", "[data]") {
    const TempFolder temp;
    const auto fingerprint = [&](const std::vector<std::string>& texts) {
        std::vector<std::string> files;
        for (const std::string& text : texts)
            files.push_back(temp.write(std::to_string(files.size()) + ".txt", text));
        return open_tokens(files, 256).fingerprint();
    };
    std::string text(5000, 'x');
    const std::string first = fingerprint({text, "yy"});
    CHECK(fingerprint({text, "yy"}) == first);
    CHECK(fingerprint({"yy", text}) != first);
    text[4999] = 'y';
    CHECK(fingerprint({text, "yy"}) != first);
    // A wrong id anywhere is found before training.
    const std::string shard = temp.write("b.bin", std::string("\x01\x00\x02\x00\x2c\x01", 6));
    CHECK_THAT(input_error_of([&] { open_tokens({shard}, 300).fingerprint(); }),
               ContainsSubstring("token 2 (byte 4) is 300"));
}
