// Which blocks does a lane show over one steady step: periodic operations cut to [0, step), and
// what is too short to see.
#pragma once

#include <vector>

#include "sim/plan/step.h"

namespace sluice {

/// What an operation is about; one colour each.
enum class Family : std::uint8_t {
    weights,
    checkpoints,
    forward,
    backward,
    loss,
    gradients,
    update,
    other
};
inline constexpr int kFamilyCount = 8;
Family family_of(OperationKind kind);

/// A part of [0, step): one operation, or several short ones drawn as one.
struct Block {
    Seconds start = 0;
    Seconds end = 0;
    Seconds busy = 0;  ///< less than end - start where several with pauses between are drawn as one
    OperationId first = 0;  ///< in order of time
    OperationId last = 0;
    std::int32_t count = 1;         ///< of operations
    Family family = Family::other;  ///< with several, that of the most time
};

/// The lane's operations cut to [0, step), in order of time. What starts before 0 or ends after
/// `step` appears at both ends: a steady step repeats. Precondition: step > 0, and one interval an
/// operation.
std::vector<Block> lane_blocks(const TimedPlan& report, Lane lane);

/// The parts of [0, step) without a block. `first` and `last` are the operation that ends the
/// pause.
std::vector<Block> pauses(const std::vector<Block>& blocks, Seconds step);

/// Draws neighbours shorter than `shortest` as one block, which grows to twice that at most.
std::vector<Block> merge_short(const std::vector<Block>& blocks, Seconds shortest);

/// 1, 2 or 5 times a power of ten, so that at most `most` of it fit into `length` (both > 0, in one
/// unit).
double round_tick(double length, int most);

}  // namespace sluice
