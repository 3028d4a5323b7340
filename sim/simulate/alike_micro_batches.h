// Which micro-batches of a step are equal, and what is the step with fewer of them?
//
// Micro-batches are equal if their operations have the same lanes and demands, and wait for the
// same operations relative to themselves. A program has a row of them for each layer and direction,
// or one for all layers.
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
    std::int64_t micro_batch = 0;  ///< of the first one
    std::size_t group = 0;         ///< rows whose micro-batches wait for each other's are of one

    std::size_t end() const { return first + length * count; }
};

/// Rows of them, in the program's order. Groups are below their number. `work` is the program's.
std::vector<AlikeMicroBatches> alike_micro_batches(const StepProgram& program,
                                                   const std::vector<LaneWork>& work);

/// A row without its last micro-batches.
struct ShortRow {
    AlikeMicroBatches alike;
    std::size_t removed = 0;

    std::size_t kept() const { return alike.count - removed; }
    bool keeps(std::size_t operation) const {
        return operation < alike.first + kept() * alike.length;
    }
};

/// Rows that lose micro-batches, all of a group the same number, if about as many are kept as
/// `keep` says for the group; no rows of a group that would lose few.
std::vector<ShortRow> short_rows(const std::vector<AlikeMicroBatches>& rows,
                                 const std::vector<std::size_t>& keep);

/// The work with these rows; empty if an operation waits for one that is left out and no kept one
/// can take its place.
std::optional<std::vector<LaneWork>> with_fewer(const std::vector<LaneWork>& work,
                                                const std::vector<ShortRow>& rows);

}  // namespace sluice
