#include "sim/base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

/// Truncates or creates the file, writes it, and calls `last` with its descriptor.
template <typename Last>
bool write_text(const std::string& path, const std::string& text, Last last) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return false;
    const bool written = write_all(descriptor, text) && last(descriptor);
    // Network file systems report a full disk only here.
    return ::close(descriptor) == 0 && written;
}

bool replace_file(const std::string& target, const std::string& text) {
    const std::string temporary = fmt::format("{}.{}.part", target, static_cast<long>(::getpid()));
    struct stat before = {};
    const bool exists = ::stat(target.c_str(), &before) == 0;
    const auto finish = [&](int descriptor) {
        // Keeps the file's permissions; some file systems have none.
        if (exists) static_cast<void>(::fchmod(descriptor, before.st_mode & 07777));
        return ::fsync(descriptor) == 0;
    };
    if (write_text(temporary, text, finish) &&
        std::rename(temporary.c_str(), target.c_str()) == 0) {
        sync_folder_of(target);
        return true;
    }
    ::unlink(temporary.c_str());
    return false;
}

}  // namespace

void sync_folder(const std::string& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
}

void sync_folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    sync_folder(folder.empty() ? "." : folder);
}

void write_file(const std::string& path, const std::string& text) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool exists = fs::exists(path, error);
    // Writes directly to a device or a pipe. Replaces a link's target, not the link.
    const bool in_place = exists && !fs::is_regular_file(path, error);
    const std::string target = exists && !in_place ? fs::canonical(path, error).string() : path;
    if (in_place ? write_text(path, text, [](int) { return true; }) : replace_file(target, text))
        return;
    throw InputError(fmt::format(
        "{}: cannot be written; check that the folder exists, is writable and has space", path));
}

}  // namespace sluice
