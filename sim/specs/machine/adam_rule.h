// How fast is AdamW by threads on a machine where it was not measured?
#pragma once

#include <cstdint>
#include <string>

#include "sim/specs/machine/curves.h"

namespace sluice {

/// A thread's time for a byte is its own work plus its share of the memory's time:
///   1 / rate = 1 / (threads x rate of a thread) + 1 / memory
/// A thread's rate is the first H200 machine's. With 12 bytes of state and 1 to 16 threads the rule
/// is 3 to 7% off on average on four H200 machines and on one with an H100, measured later (worst
/// 22%, whose rate fell at 10 threads).
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
