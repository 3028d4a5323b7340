// Must each of hundreds of equal micro-batches be simulated? No: a few, if they repeat exactly.
//
// Micro-batches are equal if their operations have the same lanes and demands, and wait for the
// same operations relative to themselves. A step with fewer of them is simulated. In its times,
// consecutive micro-batches are searched whose operations ran at the same distance in time from
// each other, with the same power budget left, and with no other operations during that time. At
// the end of that time the lanes are in the same state as at its start, one micro-batch later, so
// they repeat it. The micro-batches that were left out are inserted there, each at that distance.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/simulate/step_run.h"

namespace sluice {

/// Equal micro-batches, one after another in the program.
struct AlikeMicroBatches {
    std::size_t first = 0;   ///< index of the first operation
    std::size_t length = 0;  ///< operations per micro-batch
    std::size_t count = 0;

    std::size_t end() const { return first + length * count; }
};

/// The longest row of equal micro-batches; count 0 if there is none. `work` is the program's.
AlikeMicroBatches alike_micro_batches(const StepProgram& program,
                                      const std::vector<LaneOperation>& work);

/// The work without the last equal micro-batches beyond `keep`; empty if another operation waits
/// for one of those.
std::optional<std::vector<LaneOperation>> with_fewer(const std::vector<LaneOperation>& work,
                                                     const AlikeMicroBatches& alike,
                                                     std::size_t keep);

/// A step's times with all micro-batches.
struct WholeStep {
    std::vector<OperationInterval> intervals;
    Seconds longer = 0;  ///< than the simulated step
};

/// The whole step from a step with_fewer(work, alike, keep); empty if that does not repeat.
std::optional<WholeStep> with_all(const RunSteps& run, std::size_t step,
                                  const AlikeMicroBatches& alike, std::size_t keep);

}  // namespace sluice
