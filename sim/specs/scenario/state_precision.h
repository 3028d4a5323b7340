// How many bytes does a parameter take between two steps: its master and the two moments of AdamW?
// The rows are all precisions that --state-bytes knows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "sim/base/units.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// Elements that share one scale if moments have 8 bits.
inline constexpr std::int64_t kMomentBlock = 128;

/// The upper plane of the master has 2 bytes: it is the bf16 weight that is streamed.
struct StatePrecision {
    int bytes;         ///< of the master and both moments, without scales
    int low_bytes;     ///< of the master's lower plane: 2 make it fp32; with less it is rounded
    int moment_bytes;  ///< of each moment; 1: codes with an fp32 scale for kMomentBlock of them
    const char* words;

    constexpr bool has_scales() const { return moment_bytes == 1; }
    /// Rows of the token embedding, which are updated one by one, must be whole blocks.
    constexpr bool takes_hidden(std::int64_t hidden) const {
        return !has_scales() || hidden % kMomentBlock == 0;
    }
    /// Bytes of all else but weights of `count` parameters, array by array: the master's lower
    /// plane, both moments and their scales; 0: there is none.
    constexpr std::array<Bytes, 5> array_bytes(std::int64_t count) const {
        const Bytes scales = has_scales() ? kFp32 * ((count + kMomentBlock - 1) / kMomentBlock) : 0;
        return {low_bytes * count, moment_bytes * count, moment_bytes * count, scales, scales};
    }
    /// Bytes a parameter with its share of the scales.
    constexpr double bytes_with_scales() const {
        return bytes + (has_scales() ? 2 * 4.0 / kMomentBlock : 0);
    }
};

inline constexpr std::array<StatePrecision, 5> kStatePrecisions = {{
    {12, 2, 4, "fp32"},
    {8, 2, 2, "bf16 moments"},
    {6, 2, 1, "8-bit moments"},
    {5, 1, 1, "8-bit moments, master of 24 bits"},
    {4, 0, 1, "8-bit moments, master of 16 bits"},
}};

/// Frozen weights in bf16 have no states.
inline constexpr StatePrecision kFrozen = {kBf16, 0, 0, "frozen"};

/// The row of these bytes; null if there is none.
constexpr const StatePrecision* find_state_precision(std::int64_t bytes) {
    for (const StatePrecision& precision : kStatePrecisions)
        if (precision.bytes == bytes) return &precision;
    return nullptr;
}

/// Precondition: there is one, or they are frozen.
constexpr const StatePrecision& state_precision(std::int64_t bytes) {
    return bytes == kFrozen.bytes ? kFrozen : *find_state_precision(bytes);
}

/// The precisions of fewer bytes, the largest first.
constexpr std::span<const StatePrecision> smaller_states(std::int64_t bytes) {
    std::span<const StatePrecision> rest = kStatePrecisions;
    while (!rest.empty() && rest.front().bytes >= bytes) rest = rest.subspan(1);
    return rest;
}

/// Bytes that are kept of a parameter: of its master and of each moment.
struct BytesOfStates {
    std::int64_t master = kFp32, moment = kFp32;

    bool full() const { return master == kFp32 && moment == kFp32; }
};
BytesOfStates bytes_of_states(const TrainingSpec& training);

/// "12, 8, 6, 5 or 4".
std::string state_bytes_choices();
/// "12 (fp32), 8 (bf16 moments), ... or 4 (...)".
std::string state_bytes_choices_in_words();

}  // namespace sluice
