#include "sim/base/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace sluice {

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

}  // namespace sluice
