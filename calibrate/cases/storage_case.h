// How fast does the disk below a folder read and write, by block and by blocks in flight?
#pragma once

#include <functional>
#include <string>

#include "calibrate/measurement/measurements.h"
#include "sim/base/units.h"

namespace sluice {

struct StorageSettings {
    std::string folder = ".";
    Bytes most_bytes = 2'000'000'000;  ///< of the file that is written and read
    bool quick = false;                ///< 3 of the 9 points
    std::function<void(double share)> progress = {};
};

/// Bytes of the file: at most a tenth of what is free, whole blocks of 16 MiB; 0 where that is less
/// than four of them.
Bytes storage_file_bytes(Bytes free, Bytes most);

/// Adds the tables storage_write and storage_read: block_bytes, queue_depth, gb_per_s, low, high.
/// The file has no name from the start, so that nothing stays behind. Never throws for what the
/// disk or the file system refuses: that is a warning.
void measure_storage_in(const StorageSettings& settings, CaseRecord& record);

}  // namespace sluice
