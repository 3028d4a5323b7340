// A nameless file to measure a disk with, past the system's cache if the file system allows it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "calibrate/measurement/measurements.h"
#include "sim/base/units.h"

namespace sluice {

/// Memory, offsets and sizes for direct access are multiples of this.
inline constexpr Bytes kStorageAlignment = 4096;
using AlignedBuffer = std::unique_ptr<char, decltype(&std::free)>;
/// Throws std::bad_alloc.
AlignedBuffer aligned_buffer(Bytes bytes);

/// The data to write: random, so that no disk or file system compresses it.
class RandomBlocks {
  public:
    explicit RandomBlocks(Bytes most_block);
    /// `bytes` random bytes, different for each `index`; aligned.
    const char* at(std::int64_t index) const;

  private:
    static constexpr std::int64_t kDistinct = 1024;
    AlignedBuffer memory_;
};

class StorageFile {
  public:
    /// In `folder`, without a name: it is gone when closed, however the program ends. Throws
    /// std::system_error if the folder does not allow it.
    explicit StorageFile(const std::string& folder);
    ~StorageFile();
    StorageFile(const StorageFile&) = delete;
    StorageFile& operator=(const StorageFile&) = delete;

    /// Whether reads and writes bypass the system's cache.
    bool is_direct() const { return direct_; }
    /// Whole blocks; throws std::system_error.
    void write(const char* from, Bytes bytes, Bytes offset) const;
    void read(char* to, Bytes bytes, Bytes offset) const;
    /// Waits until written data is on the disk; without direct access also drops it from the cache,
    /// so that reads come from the disk.
    void flush() const;

  private:
    int file_ = -1;
    bool direct_ = false;
};

/// Free bytes of the file system of a folder for this user; throws std::system_error.
Bytes free_bytes_below(const std::string& folder);

struct StorageSettings {
    std::string folder = ".";
    Bytes most_bytes = 2'000'000'000;  ///< of the file that is written and read
    bool quick = false;                ///< 3 of the 9 points
    std::function<void(double share)> progress = {};
};

/// Bytes of the file: at most a tenth of the free space, whole blocks of 16 MiB; 0 if that is less
/// than four blocks.
Bytes storage_file_bytes(Bytes free, Bytes most);

/// Adds the tables storage_write and storage_read: block_bytes, queue_depth, gb_per_s, low, high.
/// The file never has a name, so nothing stays behind. Does not throw if the disk or the file
/// system refuses; it adds a warning.
void measure_storage_in(const StorageSettings& settings, CaseRecord& record);

}  // namespace sluice
