// How does a file on disk change so that a full disk or a power failure loses nothing?
#pragma once

#include <string>

namespace sluice {

/// Writes a file whole or not at all: a temporary beside it, renamed once its bytes are on the
/// disk; returns when the new name is, too. Permissions stay. A device or a pipe takes the text as
/// it is. Throws InputError where that fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace sluice
