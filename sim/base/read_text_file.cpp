#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

/// At most one piece more than kMaxInputBytes. A pipe without a writer is empty: opening it as
/// usual would wait for one.
std::string read_bytes(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    std::string text;
    std::array<char, 65536> piece;
    ssize_t count = descriptor < 0 ? -1 : 1;
    while (count > 0 && text.size() <= kMaxInputBytes) {
        count = ::read(descriptor, piece.data(), piece.size());
        if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
        if (count >= 0 || (errno != EAGAIN && errno != EINTR)) continue;
        pollfd waiting{descriptor, POLLIN, 0};
        ::poll(&waiting, 1, -1);
        count = 1;
    }
    if (descriptor >= 0) ::close(descriptor);
    if (count < 0) throw InputError(fmt::format("{}: cannot be read; check its permissions", path));
    return text;
}

}  // namespace

std::string read_text_file(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error || !std::filesystem::exists(status)) {
        throw InputError(fmt::format("{}: no such file; check the path", path));
    }
    if (std::filesystem::is_directory(status)) {
        throw InputError(
            fmt::format("{}: is a folder, expected a file; name the file in it", path));
    }
    const std::string text = read_bytes(path);
    if (text.empty() && std::filesystem::is_fifo(status))
        throw InputError(
            fmt::format("{}: is a pipe that nobody writes to; name a file, or start the writer "
                        "first",
                        path));
    if (text.size() > kMaxInputBytes) {
        throw InputError(
            fmt::format("{}: larger than {} MiB; name another file", path, kMaxInputBytes >> 20));
    }
    return text;
}

}  // namespace sluice
