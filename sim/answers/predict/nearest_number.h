// Which number of layers is fastest, where time falls up to it and rises after it?
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/answers/predict/plan_trials.h"

namespace sluice {

/// The smallest step of a choice among so many layers: 1 up to 511.
inline std::int64_t finest_stride(std::int64_t layers) {
    return std::max<std::int64_t>(1, layers / 256);
}

/// Calls time(number) for numbers of `all` layers in steps of an eighth of them, up to the first
/// whose time is known and not below `fastest` or those before, then nearer to the fastest, which
/// it returns; 0 if none is below `fastest`.
template <typename Time>
std::int64_t nearest_number(std::int64_t all, Seconds fastest, Time time) {
    std::int64_t best = 0;
    const auto is_worse = [&](std::int64_t layers) {
        if (layers <= 0 || layers > all) return true;
        const Seconds seconds = time(layers);
        if (seconds < fastest) fastest = seconds, best = layers;
        return seconds != kNever && best != layers;
    };
    std::int64_t stride = std::max<std::int64_t>(1, all / 8), layers = stride;
    for (; !is_worse(layers); layers += stride) continue;
    while (stride > finest_stride(all) && best > 0) {
        stride = (stride + 1) / 2;
        const std::int64_t middle = best;
        is_worse(middle - stride);
        if (best == middle) is_worse(middle + stride);
    }
    return best;
}

}  // namespace sluice
