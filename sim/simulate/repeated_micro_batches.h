// Must each of hundreds of equal micro-batches be simulated? No: a few, if they repeat exactly.
//
// Micro-batches are equal if their operations ask the same of the same lanes and wait for the same
// operations, counted from their own. A step with fewer of them is simulated. It is searched for
// consecutive micro-batches whose operations ran at the same distance from each other, with the
// same power budget left, and with nothing else beside them for that long. The lanes then do at the
// end of that time what they did at its start, one micro-batch later, and repeat it from there on.
// The micro-batches that were left out are inserted there, each at that distance.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/simulate/step_run.h"

namespace sluice {

/// Equal micro-batches, one after another in the program.
struct AlikeMicroBatches {
    std::size_t first = 0;   ///< operation
    std::size_t length = 0;  ///< operations of one
    std::size_t count = 0;

    std::size_t end() const { return first + length * count; }
};

/// The longest row of equal micro-batches; a count of 0 if there is none. `work` is of the
/// program.
AlikeMicroBatches alike_micro_batches(const StepProgram& program,
                                      const std::vector<LaneWork>& work);

/// The work without the last equal ones beyond `keep`; nothing if another operation waits for
/// one of those.
std::optional<std::vector<LaneWork>> with_fewer(const std::vector<LaneWork>& work,
                                                const AlikeMicroBatches& alike, std::size_t keep);

/// A step's times with all micro-batches.
struct WholeStep {
    std::vector<OperationInterval> intervals;
    Seconds longer = 0;  ///< than the step that was simulated
};

/// The whole step from one of with_fewer(work, alike, keep); nothing if it does not repeat.
std::optional<WholeStep> with_all(const RunSteps& run, std::size_t step,
                                  const AlikeMicroBatches& alike, std::size_t keep);

}  // namespace sluice
