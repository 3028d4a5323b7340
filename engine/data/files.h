// How are large files read without a copy in memory, and written so that they are on disk whole or
// not at all?
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/data/checksum.h"
#include "sim/base/input_error.h"

namespace sluice {

/// Whether anything has that name. Also a link to nothing, and what the system does not show: to
/// open it then says why not, where to pass it over would lose it without a word.
bool is_there(const std::filesystem::path& path);

/// A regular file, mapped read-only for the lifetime of the object. It must not become shorter
/// during that time: the system ends a program that reads past the end of a mapped file. Replacing
/// it by renaming another file over it is safe.
class MappedFile {
  public:
    /// Throws InputError if the file is missing, unreadable, empty or not a regular file.
    explicit MappedFile(std::string path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const std::string& path() const { return path_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    std::size_t size() const { return bytes_.size(); }

  private:
    std::string path_;
    std::span<const std::byte> bytes_;
};

/// A regular file that is read piece by piece. If it becomes shorter meanwhile, that is an error of
/// the input, while a mapped file would end the program.
class ReadFile {
  public:
    /// Throws InputError as MappedFile does.
    explicit ReadFile(std::string path);
    ~ReadFile();
    ReadFile(ReadFile&& other) noexcept;
    ReadFile& operator=(ReadFile&& other) noexcept;
    ReadFile(const ReadFile&) = delete;
    ReadFile& operator=(const ReadFile&) = delete;

    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }  ///< when it was opened
    int descriptor() const { return descriptor_; }
    std::int64_t modified_ns() const;  ///< when it was last written to, as the system knows now
    /// Fills `out` with the bytes from `begin` on; several threads may read at once. Throws
    /// InputError if the file has become shorter or its disk fails.
    void read(std::int64_t begin, std::span<std::byte> out) const;

  private:
    std::string path_;
    std::int64_t size_ = 0;
    int descriptor_ = -1;
};

/// A disk without room, where another try may find some.
class DiskFull : public InputError {
  public:
    using InputError::InputError;
};

/// A file that is written under its final name with ".partial" added; commit() gives it the final
/// name. Without commit() it is removed. All failures (permission, DiskFull) are InputErrors that
/// name the path, the needed bytes and the remedy.
class OutputFile {
  public:
    /// `bytes_needed`: the size that it will have, for messages.
    OutputFile(std::string path, std::int64_t bytes_needed);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    /// Waits until the bytes are on the disk (fsync), renames, and waits for the folder too.
    /// Replaces a file of that name and returns the checksum of its bytes. InternalError unless
    /// bytes_needed were written.
    std::uint64_t commit();

  private:
    [[noreturn]] void fail(const char* doing, int error) const;

    std::string path_, partial_path_;
    std::int64_t bytes_needed_, written_ = 0;
    int descriptor_ = -1;
    Checksum checksum_;
};

/// The same for a whole text.
std::uint64_t write_output_file(const std::string& path, std::string_view text);

/// Bytes that a user may still write to the file system of `folder`; -1 if it does not say.
std::int64_t free_disk_bytes(const std::string& folder);

}  // namespace sluice
