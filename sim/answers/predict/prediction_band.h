// How far from its prediction may a step be? The band in which nine of ten measured steps lie.
//
// The machine's rates are off in groups that move together (RateRanges). The step is simulated
// again with each group at the low and at the high end of its range; groups are independent, so
// that what each adds to the step is combined as the root of the sum of squares, and likewise what
// each takes from it.
//
// Kernels: a step has some tens of different ones, whose errors average out, while what they have
// in common does not. For kernel i, with the share w of all time of kernels, the table says that
// the true rate is 1 + m +- h of the rate taken (m the middle, h half of 5 to 95%), and the clock,
// on which all of them run, is known to +- c. All together are then at
//
//   1 + sum w m  +-  sqrt(c^2 + sum (w h)^2)
//
// where equal layers have the same kernels, which count once. Kernels by a formula are off
// together, and so are those of another machine's tables, scaled: they are one i.
#pragma once

#include <span>

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// Least speed of other systems' work on the host, of that taken. Their own Adam took 1.0 to 1.8
/// times as long, alone, on four machines of the kind that was calibrated (19 measurements; rows of
/// validation/peers-h200-3.json); the rest of their host work was slow with it. A range goes down
/// to half at most (RateRanges).
inline constexpr double kSlowestHostOfOthers = 0.5;

/// The band of a step that predict() predicted on that machine; simulates its plan ten times.
Band predict_band(const TimedPlan& timed, const MachineSpec& machine);

/// The range of all kernels of the plan together.
RateRange kernels_range(const StepProgram& program, const MachineSpec& machine);

/// Root of the sum of squares.
double combined(std::span<const double> deviations);

}  // namespace sluice
