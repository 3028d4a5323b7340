// Must each of hundreds of equal micro-batches be simulated? No: a few, if they repeat exactly.
//
// A step with fewer of them is simulated. In its times, consecutive micro-batches of each row are
// searched whose operations ran at the same distance in time from each other, with the same power
// budget left, while no other operations ran and none was waited for. At the end of that time the
// lanes are in the same state as at its start, one micro-batch later, so they repeat it. The
// micro-batches that were left out are inserted there, each at that distance.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/simulate/alike_micro_batches.h"

namespace sluice {

/// A step's times with all micro-batches.
struct WholeStep {
    std::vector<OperationInterval> intervals;
    Seconds longer = 0;  ///< than the simulated step
    std::vector<std::size_t>
        not_repeating;  ///< groups of rows; if there are any, the rest is empty
};

/// The whole step from a step of `fewer`, which is with_fewer(work, rows).
WholeStep with_all(const RunSteps& run, std::size_t step, const std::vector<LaneWork>& fewer,
                   const std::vector<ShortRow>& rows);

}  // namespace sluice
