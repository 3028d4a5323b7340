#include "engine/data/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

std::string shown_bytes(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

OutputFile::OutputFile(std::string path, std::int64_t bytes_needed)
    : path_(std::move(path)), partial_path_(path_ + ".partial"), bytes_needed_(bytes_needed) {
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
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        throw InputError(fmt::format("{} ({}); free {} or choose another folder", needed, reason,
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
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::commit() {
    if (written_ != bytes_needed_) {
        throw InternalError(
            fmt::format("{}: {} bytes written, {} declared", path_, written_, bytes_needed_));
    }
    if (::fsync(descriptor_) != 0) fail("writing to disk", errno);
    // Network file systems report a full disk only here.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        const int error = errno;
        ::unlink(partial_path_.c_str());
        fail("closing", error);
    }
    if (std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
        const int error = errno;
        ::unlink(partial_path_.c_str());
        fail("renaming", error);
    }
    sync_folder_of(path_);
}

std::int64_t free_disk_bytes(const std::string& folder) {
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) return -1;
    return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

}  // namespace sluice
