#include "engine/train/output_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "sim/base/input_error.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".sluice-train.lock";

[[noreturn]] void refuse(const std::string& path, const std::error_code& error) {
    throw InputError(
        fmt::format("{}: cannot be created ({}); check the permissions or choose another --out",
                    path, error.message()));
}

bool is_at(int descriptor, const std::string& path) {
    struct stat open = {}, there = {};
    return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &there) == 0 &&
           open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace

std::vector<std::string> create_folders(const std::string& folder) {
    std::error_code error;
    std::vector<std::string> missing;
    for (fs::path level = folder; !level.empty() && !fs::exists(level, error);
         level = level.parent_path())
        missing.push_back(level.string());
    fs::create_directories(folder, error);
    if (error) refuse(folder, error);
    for (const std::string& level : missing) sync_folder_of(level);
    return missing;
}

OutputLock::OutputLock(const std::string& out)
    : path_((fs::path(out) / kLock).string()), made_(create_folders(out)) {
    for (bool locked = true; locked;) {
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor_ < 0) refuse(path_, {errno, std::generic_category()});
        // Some network file systems have no locks; there nothing warns.
        locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        // A run that ends may have removed the file between the two calls.
        if (locked && is_at(descriptor_, path_)) return;
        ::close(descriptor_);
    }
    throw InputError(
        fmt::format("--out {}: another sluice-train saves here now; wait until it ends, or choose "
                    "another --out",
                    out));
}

OutputLock::~OutputLock() {
    std::error_code error;
    const fs::directory_iterator entries(fs::path(path_).parent_path(), error);
    if (!made_.empty() && !error && std::distance(entries, {}) == 1) {
        ::unlink(path_.c_str());
        for (const std::string& level : made_) ::rmdir(level.c_str());
    }
    ::close(descriptor_);
}

}  // namespace sluice
