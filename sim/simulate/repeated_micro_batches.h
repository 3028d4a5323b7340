// Must each of hundreds of alike micro-batches be simulated? A few, where they repeat exactly.
//
// Micro-batches are alike where their operations ask the same of the same lanes and wait for the
// same ones, counted from their own. A step with fewer of them is simulated. In it some in a row
// are sought that ran operation by operation as long after each other, with as much left of the
// power budget, while for that long nothing else ran beside them. What the lanes do at the end of
// that time is then what they did at its start, one micro-batch further, and they go on alike:
// those that were left out are put in there, as many times that distance.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/simulate/step_run.h"

namespace sluice {

/// Alike micro-batches, one after another in the program.
struct AlikeMicroBatches {
    std::size_t first = 0;   ///< operation
    std::size_t length = 0;  ///< operations of one
    std::size_t count = 0;

    std::size_t end() const { return first + length * count; }
};

/// The longest row of alike micro-batches; a count of 0 where there is none. `work` is of the
/// program.
AlikeMicroBatches alike_micro_batches(const StepProgram& program,
                                      const std::vector<LaneWork>& work);

/// The work without the last alike ones beyond `keep`; nothing where another operation waits for
/// one of those.
std::optional<std::vector<LaneWork>> with_fewer(const std::vector<LaneWork>& work,
                                                const AlikeMicroBatches& alike, std::size_t keep);

/// A step's times with all micro-batches.
struct WholeStep {
    std::vector<OperationInterval> intervals;
    Seconds longer = 0;  ///< than the step that was simulated
};

/// Of a step of the run of with_fewer(work, alike, keep); nothing where it does not repeat.
std::optional<WholeStep> with_all(const RunSteps& run, std::size_t step,
                                  const AlikeMicroBatches& alike, std::size_t keep);

}  // namespace sluice
