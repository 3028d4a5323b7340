// Which others does each operation of a step wait for? Computed from reads and writes of them all.
#pragma once

#include "sim/plan/step_plan.h"

namespace sluice {

/// Gives each operation its waits, the fewest that order
/// - a read after the last write of the same part of a buffer,
/// - a write after the last write of it and the reads since,
/// - the first use of a buffer that comes and goes in the device's arena after the last uses of
///   those whose lives ended before its own, since it may have their memory,
/// in this step and after the step before. A lane's own operations are in order anyway.
/// Does nothing where StepProgram::waits_to_derive says that there are none.
void derive_waits(StepPlan& plan);

}  // namespace sluice
