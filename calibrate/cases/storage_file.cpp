#include "calibrate/cases/storage_file.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <random>
#include <system_error>

namespace sluice {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A file that had a name for an instant, for file systems without O_TMPFILE.
int open_and_unlink(const std::string& folder, int flags) {
    std::string name = folder + "/sluice-storage-XXXXXX";
    const int file = mkostemp(name.data(), flags);
    if (file >= 0) unlink(name.c_str());
    return file;
}

int open_nameless(const std::string& folder, int flags) {
    const int file =
        open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
    if (file >= 0) return file;
    return open_and_unlink(folder, O_CLOEXEC | flags);
}

}  // namespace

AlignedBuffer aligned_buffer(Bytes bytes) {
    char* const memory =
        static_cast<char*>(std::aligned_alloc(kStorageAlignment, static_cast<std::size_t>(bytes)));
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, &std::free};
}

RandomBlocks::RandomBlocks(Bytes most_block)
    : memory_(aligned_buffer(most_block + kDistinct * kStorageAlignment)) {
    const Bytes bytes = most_block + kDistinct * kStorageAlignment;
    std::mt19937_64 generator(1);
    auto* const words = reinterpret_cast<std::uint64_t*>(memory_.get());
    for (Bytes word = 0; word < bytes / 8; ++word) words[word] = generator();
}

const char* RandomBlocks::at(std::int64_t index) const {
    // 389 and 1024 have no common divisor, so neighbours are far apart.
    return memory_.get() + (index * 389) % kDistinct * kStorageAlignment;
}

StorageFile::StorageFile(const std::string& folder) {
    file_ = open_nameless(folder, O_DIRECT);
    direct_ = file_ >= 0;
    if (file_ < 0 && errno == EINVAL) file_ = open_nameless(folder, 0);
    if (file_ < 0) throw_errno("a file in " + folder);
}

StorageFile::~StorageFile() { close(file_); }

void StorageFile::write(const char* from, Bytes bytes, Bytes offset) const {
    while (bytes > 0) {
        const ssize_t done = pwrite(file_, from, static_cast<std::size_t>(bytes), offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw_errno("writing");
        from += done;
        bytes -= done;
        offset += done;
    }
}

void StorageFile::read(char* to, Bytes bytes, Bytes offset) const {
    while (bytes > 0) {
        const ssize_t done = pread(file_, to, static_cast<std::size_t>(bytes), offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw_errno("reading");
        if (done == 0) {
            errno = EIO;
            throw_errno("reading past the end");
        }
        to += done;
        bytes -= done;
        offset += done;
    }
}

void StorageFile::flush() const {
    if (fdatasync(file_) != 0) throw_errno("flushing");
    if (!direct_) posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
}

Bytes free_bytes_below(const std::string& folder) {
    struct statvfs info {};
    if (statvfs(folder.c_str(), &info) != 0) throw_errno(folder);
    return static_cast<Bytes>(info.f_bavail) * static_cast<Bytes>(info.f_frsize);
}

}  // namespace sluice
