#include "sim/base/write_file.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "tests/catch.h"

namespace {

/// The calls to the disk, in order; nothing where nobody listens.
std::vector<std::string>* asked = nullptr;

}  // namespace

// In place of the C library's, for this program.
extern "C" int fsync(int descriptor) {
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    if (asked != nullptr)
        asked->push_back("fsync " + std::filesystem::read_symlink(link).filename().string());
    return static_cast<int>(syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) noexcept {
    if (asked != nullptr)
        asked->push_back("rename to " + std::filesystem::path(to).filename().string());
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace sluice {
namespace {

struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "write-file-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

}  // namespace

TEST_CASE("write file: its bytes are on the disk before its name, and then the name",
          "[write_file]") {
    const Folder folder;
    const std::string file = folder.path / "project.json";
    for (const char* text : {"first", "second"}) {
        std::vector<std::string> order;
        asked = &order;
        write_file(file, text);
        asked = nullptr;
        REQUIRE(order.size() == 3);
        CHECK_THAT(order[0], Catch::Matchers::StartsWith("fsync project.json.") &&
                                 Catch::Matchers::EndsWith(".part"));
        CHECK(order[1] == "rename to project.json");
        CHECK(order[2] == "fsync " + folder.path.filename().string());
        CHECK(read_text_file(file) == text);
    }
}

TEST_CASE("write file: a link stays one, and what it leads to is replaced", "[write_file]") {
    const Folder folder;
    const std::string file = folder.path / "project.json", link = folder.path / "link.json";
    write_file(file, "first");
    std::filesystem::create_symlink("project.json", link);
    write_file(link, "second");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(read_text_file(file) == "second");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("write file: permissions stay", "[write_file]") {
    const Folder folder;
    const std::string file = folder.path / "project.json";
    write_file(file, "first");
    for (const auto wanted : {std::filesystem::perms(0600), std::filesystem::perms(0664)}) {
        std::filesystem::permissions(file, wanted);
        write_file(file, "second");
        CHECK(std::filesystem::status(file).permissions() == wanted);
    }
}

TEST_CASE("write file: a device takes the text, one that is full says so", "[write_file]") {
    write_file("/dev/null", "text");
    CHECK(!std::filesystem::is_regular_file("/dev/null"));
    CHECK_THROWS_WITH(write_file("/dev/full", "text"),
                      Catch::Matchers::StartsWith("/dev/full: cannot be written"));
    CHECK_THROWS_AS(write_file("/no/such/folder/file", "text"), InputError);
}

}  // namespace sluice
