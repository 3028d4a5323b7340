#include "sim/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/input_error.h"

namespace sluice {

void write_file(const std::string& path, const std::string& text) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool exists = fs::exists(path, error);
    // A device or a pipe takes the text as it is; a link's target is replaced, not the link.
    const bool in_place = exists && !fs::is_regular_file(path, error);
    const std::string target = exists && !in_place ? fs::canonical(path, error).string() : path;
    const std::string temporary =
        in_place ? target : fmt::format("{}.{}.part", target, static_cast<long>(getpid()));
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    error.clear();
    if (out && !in_place) fs::rename(temporary, target, error);
    if (out && !error) return;
    if (!in_place) fs::remove(temporary, error);
    throw InputError(fmt::format(
        "{}: cannot be written; check that the folder exists, is writable and has space", path));
}

}  // namespace sluice
