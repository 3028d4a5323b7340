// How does a file on disk change so that a full disk loses nothing?
#pragma once

#include <string>

namespace sluice {

/// Writes a file whole or not at all (a temporary beside it, renamed). Throws InputError where that
/// fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace sluice
