// Which blocks does a lane show over one steady step, and with which labels? Periodic operations
// are cut to [0, step); operations too short to see are drawn as one block.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step.h"
#include "sim/report/picture.h"

namespace sluice {

/// The tensors on which an operation works; each family has its colour.
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
inline Paint family_paint(Family family) {
    return {.role = Role::family, .index = static_cast<int>(family)};
}

/// A part of [0, step): one operation, or several short ones drawn as one.
struct Block {
    Seconds start = 0;
    Seconds end = 0;
    Seconds busy = 0;       ///< less than end - start if several with pauses are drawn as one
    OperationId first = 0;  ///< in order of time
    OperationId last = 0;
    std::int32_t count = 1;         ///< of operations
    Family family = Family::other;  ///< of several: the one with the most time
};

/// The parts of an interval within [0, step), from all steps that it touches.
std::vector<OperationInterval> within_step(OperationInterval interval, Seconds step);

/// The lane's operations cut to [0, step), in order of time. An operation that starts before 0 or
/// ends after `step` appears at both ends, since a steady step repeats. Precondition: step > 0, and
/// one interval per operation.
std::vector<Block> lane_blocks(const TimedPlan& report, Lane lane);

/// The parts of [0, step) without a block. `first` and `last` are the operation that ends the
/// pause.
std::vector<Block> pauses(const std::vector<Block>& blocks, Seconds step);

/// Merges neighbours shorter than `shortest` into one block of at most twice that length.
std::vector<Block> merge_short(const std::vector<Block>& blocks, Seconds shortest);

const char* family_name(Family family);

/// The operation on another lane that it waited for last; -1 if it waits for none.
OperationId last_wait(const TimedPlan& report, OperationId id);
/// "weights in 12" if it fits into `width` pixels, else "12" (outside layers "weights in"), else
/// empty. Empty for several operations.
std::string text_inside(const TimedPlan& report, const Block& block, double size, double width);

}  // namespace sluice
