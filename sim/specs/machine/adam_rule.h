// How fast is AdamW by threads on a machine where it was not measured?
#pragma once

#include <cstdint>
#include <string>

#include "sim/specs/machine/curves.h"

namespace sluice {

/// A thread's time for a byte is its own work plus its share of the memory's time:
///   1 / rate = 1 / (threads x rate of a thread) + 1 / memory
/// Both rates are constants of one machine (H200, 16 CPUs). The sum is within 8% of what four such
/// machines reach with 1 to 16 threads and 12, 8 or 6 bytes of state (docs/profile-sources.md).
struct AdamRule {
    double cores = 1;
    double memory = 0;  ///< bytes/s of STREAM
    double known = 0;   ///< bytes/s that all threads reach, if that is published; else 0

    /// Bytes/s of memory traffic. The curve ends at the cores, or where another thread adds less
    /// than 1%.
    Interpolated by_threads(std::int64_t state_bytes) const;
    std::string sentence() const;
};

}  // namespace sluice
