// How is a large file written so that it is either complete on disk, or not there?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// A file under construction beside its final name (with ".partial" added); commit() gives it that
/// name. Without commit() it is removed. All failures (permission, disk full) are InputErrors that
/// name the path, the bytes needed and what to do.
class OutputFile {
  public:
    /// `bytes_needed`: the size it will have, for messages.
    OutputFile(std::string path, std::int64_t bytes_needed);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    /// Waits until the bytes are on the disk (fsync), renames, and waits for the folder too.
    /// Replaces a file of that name. InternalError unless bytes_needed were written.
    void commit();

  private:
    [[noreturn]] void fail(const char* doing, int error) const;

    std::string path_, partial_path_;
    std::int64_t bytes_needed_, written_ = 0;
    int descriptor_ = -1;
};

/// Bytes that a user may still write to the file system of `folder`; -1 where it does not say.
std::int64_t free_disk_bytes(const std::string& folder);

}  // namespace sluice
