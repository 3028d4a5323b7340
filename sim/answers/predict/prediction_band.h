// How far may a step be from its prediction? The band in which nine of ten measured steps lie.
//
// The machine's rates are off in groups that move together (RateRanges). The step is simulated
// again with each group at the low and at the high end of its range. Groups are independent, so the
// times that they add are combined as the root of the sum of squares, and so are the times that
// they save.
//
// Kernels: a step has some tens of different kernels. Their own errors average out, their common
// error does not. Kernel i takes the share w of all kernel time, and by its table the true rate is
// 1 + m +- h times the assumed rate (m the middle, h half of 5 to 95%). The clock, which all of
// them share, is known to +- c. The rate of all kernels together is then
//
//   1 + sum w m  +-  sqrt(c^2 + sum (w h)^2)
//
// Equal layers have the same kernels, which count once. Kernels with a formula are off together,
// and so are those with another machine's scaled tables: each of these groups is one i.
#pragma once

#include <span>

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// The lowest rate of other systems' host work over the assumed rate. Their own Adam alone took 1.0
/// to 1.8 times as long on four machines of the calibrated kind (19 measurements; rows of
/// validation/peers-h200-3.json), and the rest of their host work was slow with it. Ranges go down
/// to half at most (RateRanges).
inline constexpr double kSlowestHostOfOthers = 0.5;

/// The band of a step that predict() predicted on that machine; simulates its plan ten times,
/// for several GPUs up to 14 times.
Band predict_band(const TimedPlan& timed, const MachineSpec& machine);

/// The common range of all kernels of the plan.
RateRange kernels_range(const StepProgram& program, const MachineSpec& machine);

/// Root of the sum of squares.
double combined(std::span<const double> deviations);

}  // namespace sluice
