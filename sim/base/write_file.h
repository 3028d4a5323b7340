// How does a file on disk change so that a full disk or a power failure loses nothing?
#pragma once

#include <string>

namespace sluice {

/// Writes a file whole or not at all: a temporary beside it, renamed once its bytes are on the
/// disk; returns when the new name is, too. Permissions stay. A device or a pipe takes the text as
/// it is. Throws InputError where that fails.
void write_file(const std::string& path, const std::string& text);

/// Waits until the names in `folder` are on the disk: a file created or renamed in it survives a
/// power failure only then. Some file systems cannot do that, so a failure is ignored.
void sync_folder(const std::string& folder);
/// The same for the folder that holds `path`.
void sync_folder_of(const std::string& path);

}  // namespace sluice
