#include "engine/data/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::int64_t checked_size(const std::string& path, const struct stat& status) {
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
    return status.st_size;
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() !=
           std::filesystem::file_type::not_found;
}

ReadFile::ReadFile(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
        const int error = errno;
        if (error == ENOENT && is_there(path_))
            throw InputError(fmt::format(
                "{}: is a link to a file that does not exist; restore the file, or remove the link",
                path_));
        if (error == ENOENT)
            throw InputError(fmt::format("{}: no such file; check the path", path_));
        throw InputError(
            fmt::format("{}: cannot be read ({}); check its permissions", path_, reason(error)));
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
        throw InputError(
            fmt::format("{}: cannot be read ({}); check the disk it is on", path_, reason(errno)));
    }
    size_ = checked_size(path_, status);
}

ReadFile::~ReadFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

ReadFile::ReadFile(ReadFile&& other) noexcept
    : path_(std::move(other.path_)),
      size_(other.size_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

ReadFile& ReadFile::operator=(ReadFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

std::int64_t ReadFile::modified_ns() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return 0;
    return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
           static_cast<std::int64_t>(status.st_mtim.tv_nsec);
}

void ReadFile::read(std::int64_t begin, std::span<std::byte> out) const {
    while (!out.empty()) {
        const ssize_t count = ::pread(descriptor_, out.data(), out.size(), begin);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            throw InputError(
                fmt::format("{}: cannot be read at byte {} ({}); check the disk it is "
                            "on",
                            path_, begin, reason(errno)));
        if (count == 0) {
            struct stat now {};
            ::fstat(descriptor_, &now);
            throw InputError(
                fmt::format("{}: has {} bytes, but had {} when it was opened; restore it and give "
                            "--resume",
                            path_, now.st_size, size_));
        }
        begin += count;
        out = out.subspan(static_cast<std::size_t>(count));
    }
}

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
    const ReadFile file(path_);
    const auto size = static_cast<std::size_t>(file.size());
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
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

namespace {

std::string shown_bytes(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

OutputFile::OutputFile(std::string path, std::int64_t bytes_needed)
    : path_(std::move(path)), partial_path_(path_ + ".partial"), bytes_needed_(bytes_needed) {
    std::error_code error;
    if (std::filesystem::is_symlink(partial_path_, error) &&
        std::filesystem::is_regular_file(partial_path_, error))
        throw InputError(
            fmt::format("{}: is a link to a file, which would be lost; remove the link or choose "
                        "another folder",
                        partial_path_));
    descriptor_ = ::open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        throw InputError(
            fmt::format("{}: cannot be created ({}), {} needed; check the folder's permissions or "
                        "choose another folder",
                        path_, std::generic_category().message(errno), shown_bytes(bytes_needed_)));
    }
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(partial_path_.c_str());
}

void OutputFile::fail(const char* doing, int error) const {
    const std::string needed = fmt::format("{}: {} failed after {} of {}", path_, doing,
                                           shown_bytes(written_), shown_bytes(bytes_needed_));
    const std::string reason = std::generic_category().message(error);
    if (error == EFBIG)
        throw InputError(fmt::format(
            "{} ({}); raise the limit of `ulimit -f` or choose another folder", needed, reason));
    if (error == ENOSPC || error == EDQUOT) {
        throw DiskFull(fmt::format("{} ({}); free {} or choose another folder", needed, reason,
                                   shown_bytes(bytes_needed_ - written_)));
    }
    throw InputError(
        fmt::format("{} ({}); check the disk or choose another folder", needed, reason));
}

void OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("writing", errno);
        written_ += count;
        checksum_.add(bytes.first(static_cast<std::size_t>(count)));
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

std::uint64_t OutputFile::commit() {
    if (written_ != bytes_needed_)
        throw InternalError(
            fmt::format("{}: {} bytes written, {} declared", path_, written_, bytes_needed_));
    if (::fsync(descriptor_) != 0) fail("writing to disk", errno);
    // Network file systems report a full disk only here.
    const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
    if (!closed || std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
        const int error = errno;
        ::unlink(partial_path_.c_str());
        fail(closed ? "renaming" : "closing", error);
    }
    sync_folder_of(path_);
    return checksum_.value();
}

std::uint64_t write_output_file(const std::string& path, std::string_view text) {
    OutputFile file(path, static_cast<std::int64_t>(text.size()));
    file.write(text);
    return file.commit();
}

std::int64_t free_disk_bytes(const std::string& folder) {
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) return -1;
    return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

}  // namespace sluice
