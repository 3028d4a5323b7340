// How is a file written so that a full disk or a power failure loses nothing?
#pragma once

#include <string>

namespace sluice {

/// Writes a file whole or not at all: to a temporary file next to it, renamed when its bytes are on
/// the disk. Returns when the new name is on the disk, too. Keeps the permissions. Writes directly
/// to a device or a pipe. Throws InputError if it fails.
void write_file(const std::string& path, const std::string& text);

/// Waits until the names in `folder` are on the disk, since a created or renamed file survives a
/// power failure only then. Ignores failures, since some file systems cannot do that.
void sync_folder(const std::string& folder);
/// The same for the folder of `path`.
void sync_folder_of(const std::string& path);

}  // namespace sluice
