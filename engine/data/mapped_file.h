// How are the bytes of a large file read without a copy of it in memory?
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sluice {

/// A regular file mapped read-only for as long as the object lives. It must not become shorter
/// meanwhile: the system ends a program that reads behind the end of a mapped file. Replacing it by
/// renaming another file over it is safe.
class MappedFile {
  public:
    /// Throws InputError when the file is missing, unreadable, empty or not a regular file.
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

}  // namespace sluice
