#include "engine/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// A file descriptor that is closed at the end of the scope.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

std::string reason(int error) { return std::generic_category().message(error); }

std::size_t checked_size(const std::string& path, const struct stat& status) {
    if (S_ISDIR(status.st_mode)) {
        throw InputError(
            fmt::format("{}: is a folder, expected a file; name the file in it", path));
    }
    if (!S_ISREG(status.st_mode)) {
        throw InputError(
            fmt::format("{}: is a pipe or device, expected a file; copy it to one", path));
    }
    if (status.st_size == 0) {
        throw InputError(fmt::format("{}: is empty; write or download it again", path));
    }
    return static_cast<std::size_t>(status.st_size);
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    const Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) {
        const int error = errno;
        if (error == ENOENT) {
            throw InputError(fmt::format("{}: no such file; check the path", path_));
        }
        throw InputError(
            fmt::format("{}: cannot be read ({}); check its permissions", path_, reason(error)));
    }
    struct stat status {};
    if (::fstat(file.number, &status) != 0) {
        throw InputError(
            fmt::format("{}: cannot be read ({}); check the disk it is on", path_, reason(errno)));
    }
    const std::size_t size = checked_size(path_, status);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (data == MAP_FAILED) {
        throw InputError(
            fmt::format("{}: {} bytes cannot be mapped into memory ({}); copy the file to a local "
                        "disk, or raise the limit shown by ulimit -v",
                        path_, size, reason(errno)));
    }
    bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

}  // namespace sluice
