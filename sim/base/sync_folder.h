// How does a name in a folder survive a power failure?
#pragma once

#include <string>

namespace sluice {

/// Waits until the names in `folder` are on the disk: a file created or renamed in it survives a
/// power failure only then. Some file systems cannot do that, so a failure is ignored.
void sync_folder(const std::string& folder);
/// The same for the folder that holds `path`.
void sync_folder_of(const std::string& path);

}  // namespace sluice
