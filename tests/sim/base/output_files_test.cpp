// Which outputs are refused before any work?
#include "sim/base/output_files.h"

#include <sys/stat.h>

#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"

namespace sluice {
namespace {

std::string refusal(const std::vector<OutputFlag>& outputs,
                    const std::vector<std::string>& inputs = {}) {
    try {
        check_output_files(outputs, inputs);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("output files: an input is never one, however it is named", "[output_files]") {
    const test::TemporaryFolder folder;
    const std::string input = folder.write("data/a.json", "kept");
    const std::string data = (folder.path / "data").string();
    const std::string link = (folder.path / "link").string();
    const std::string hard = (folder.path / "hard").string();
    std::filesystem::create_symlink(input, link);
    std::filesystem::create_hard_link(input, hard);
    for (const std::string& name : {input, data + "/../data/./a.json", link, hard})
        for (const std::string& read : {input, input + ":8", link})
            for (const bool appends : {false, true}) {
                CAPTURE(name, read);
                CHECK_THAT(refusal({{"--trace", name, appends}}, {"other", read}),
                           ContainsSubstring("--trace " + name + ": this command also reads"));
            }
    // All files of a folder that is read; new ones may be put there.
    CHECK_THAT(refusal({{"--log", input, true}}, {data}), ContainsSubstring("also reads"));
    CHECK(refusal({{"--log", data + "/new.json"}}, {data, "", "a:b", "qwen2.5-7b"}).empty());
    CHECK(std::filesystem::file_size(input) == 4);
}

TEST_CASE("output files: those that cannot be written are refused, and a trial leaves nothing",
          "[output_files]") {
    const test::TemporaryFolder folder;
    const std::string one = (folder.path / "one").string();
    CHECK(refusal({{"--out", one}, {"--log", std::nullopt}}).empty());
    CHECK(std::filesystem::is_empty(folder.path));
    CHECK_THAT(refusal({{"--out", ""}}), ContainsSubstring("--out needs the name of a file"));
    CHECK_THAT(refusal({{"--out", "/"}}), ContainsSubstring("--out /: is a folder"));
    CHECK_THAT(refusal({{"--out", one + "/no/file"}}),
               ContainsSubstring("cannot be written (No such file or directory)"));
    CHECK_THAT(refusal({{"--out", one}, {"--svg", folder.path.string() + "/./one"}}),
               ContainsSubstring("--out and --svg are both"));
    CHECK(refusal({{"--out", "/dev/null"}, {"--log", "/dev/stderr", true}}).empty());
}

}  // namespace sluice
