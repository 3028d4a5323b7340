#include "sim/base/output_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

bool are_same(const std::string& a, const std::string& b) {
    std::error_code error;
    return a == b || fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal() ||
           fs::equivalent(a, b, error);
}

/// Whether writing `file` changes what is read from `input`.
bool is_input(const std::string& file, const std::string& input) {
    std::error_code error;
    const std::string path = fs::exists(input, error) ? input : input.substr(0, input.rfind(':'));
    if (!fs::is_regular_file(file, error) || !fs::exists(path, error)) return false;
    if (!fs::is_directory(path, error)) return are_same(file, path);
    return are_same(fs::canonical(file, error).parent_path().string(), path);
}

/// The system's reason if `file` cannot be written; a file made for the trial is removed.
std::error_code why_not(const std::string& file, bool appends) {
    std::error_code error;
    const bool exists = fs::exists(file, error);
    if (exists && (appends || !fs::is_regular_file(file, error)))
        return ::access(file.c_str(), W_OK) == 0 ? std::error_code()
                                                 : std::error_code(errno, std::generic_category());
    // As write_file() does: beside what a link leads to.
    const std::string target = exists ? fs::canonical(file, error).string() : file;
    const std::string trial = fmt::format("{}.{}.part", target, static_cast<long>(::getpid()));
    const int descriptor = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return {errno, std::generic_category()};
    ::close(descriptor);
    ::unlink(trial.c_str());
    return {};
}

/// Forms of pictures that no program here writes.
bool names_another_picture(const std::string& file) {
    constexpr std::string_view kOthers[] = {".png", ".jpg", ".jpeg", ".gif", ".webp",
                                            ".bmp", ".pdf", ".eps",  ".tif", ".tiff"};
    return std::ranges::find(kOthers, lowercase(fs::path(file).extension().string())) !=
           std::end(kOthers);
}

void check_output(const OutputFlag& output) {
    const auto& [flag, file, appends] = output;
    std::error_code error;
    if (names_another_picture(*file))
        throw InputError(
            fmt::format("{} {}: pictures are written as SVG alone; name a file that ends in .svg",
                        flag, *file));
    if (file->empty())
        throw InputError(fmt::format("{} needs the name of a file, not an empty one", flag));
    if (fs::is_directory(*file, error))
        throw InputError(
            fmt::format("{} {}: is a folder, expected a file; name a file in it", flag, *file));
    if (const std::error_code reason = why_not(*file, appends))
        throw InputError(fmt::format(
            "{} {}: cannot be written ({}); check that the folder exists and is writable", flag,
            *file, reason.message()));
}

}  // namespace

void check_output_files(const std::vector<OutputFlag>& outputs,
                        const std::vector<std::string>& inputs) {
    std::vector<const OutputFlag*> earlier;
    for (const OutputFlag& output : outputs) {
        if (!output.file) continue;
        check_output(output);
        for (const OutputFlag* other : earlier)
            if (are_same(*output.file, *other->file))
                throw InputError(fmt::format("{} and {} are both {}; give two names", other->flag,
                                             output.flag, *output.file));
        for (const std::string& input : inputs)
            if (is_input(*output.file, input))
                throw InputError(fmt::format(
                    "{} {}: this command also reads that file, which would be lost; name another "
                    "file",
                    output.flag, *output.file));
        earlier.push_back(&output);
    }
}

}  // namespace sluice
