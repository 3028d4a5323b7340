// Which blocks does a lane show over one steady step, and which words do they carry? Periodic
// operations are cut to [0, step); what is too short to see is drawn together.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step.h"
#include "sim/report/picture.h"

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
inline Paint family_paint(Family family) {
    return {.role = Role::family, .index = static_cast<int>(family)};
}

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

/// The parts of an interval within [0, step), from all steps in which it shows there.
std::vector<OperationInterval> within_step(OperationInterval interval, Seconds step);

/// The lane's operations cut to [0, step), in order of time. What starts before 0 or ends after
/// `step` appears at both ends: a steady step repeats. Precondition: step > 0, and one interval an
/// operation.
std::vector<Block> lane_blocks(const TimedPlan& report, Lane lane);

/// The parts of [0, step) without a block. `first` and `last` are the operation that ends the
/// pause.
std::vector<Block> pauses(const std::vector<Block>& blocks, Seconds step);

/// Draws neighbours shorter than `shortest` as one block, which grows to twice that at most.
std::vector<Block> merge_short(const std::vector<Block>& blocks, Seconds shortest);

/// What the families are called, in their order.
const char* family_name(Family family);

/// What ended last among what the operation waited for on other lanes; -1 where it waits for
/// nothing.
OperationId last_wait(const TimedPlan& report, OperationId id);
/// "weights in 12" where it fits into `width` pixels, else "12" (or, outside layers, "weights in"),
/// else nothing. Nothing for several operations.
std::string text_inside(const TimedPlan& report, const Block& block, double size, double width);

}  // namespace sluice
