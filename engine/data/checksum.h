// Are the bytes of a file those that were written? XXH3 with 64 bits, which `xxhsum -H3` computes
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice {

class Checksum {
  public:
    Checksum();
    ~Checksum();
    void add(std::span<const std::byte> bytes);
    /// The checksum of all bytes added up to now.
    std::uint64_t value() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

struct FileChecksum {
    std::string name;  ///< in its folder
    std::uint64_t value = 0;
};

/// Its name beside the files.
inline constexpr const char* kChecksumsFile = "checksums.xxh3";

/// One line a file, as `xxhsum -H3` prints and `xxhsum --check` reads: "XXH3 (name) = 16 digits".
std::string checksum_text(const std::vector<FileChecksum>& files);
/// Reads checksum_text(). Throws InputError: `path`, line, expectation.
std::vector<FileChecksum> parse_checksums(const std::string& text, const std::string& path);

/// Throws InputError for the first file of `folder` that is missing or whose bytes have another
/// checksum. Reads all files at once, as disks and mapped memory are faster with several readers.
void verify_files(const std::string& folder, const std::vector<FileChecksum>& files);

}  // namespace sluice
