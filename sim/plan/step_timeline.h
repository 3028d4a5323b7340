// Where does a step's time go: what was each lane doing, and what did compute wait for?
#pragma once

#include <array>
#include <vector>

#include "sim/plan/step_program.h"

namespace sluice {

/// When an operation ran. Times are relative to the start of the step's first compute operation, so
/// that a copy ahead of the step has a negative start.
struct OperationInterval {
    Seconds start = 0;
    Seconds end = 0;
};

/// One lane over one steady step.
struct LaneTime {
    Seconds busy = 0;
    Seconds exposed = 0;  ///< compute waited for this lane; part of busy
    Seconds idle = 0;     ///< step less busy
    double bytes = 0;     ///< over the link, or through host memory
    std::int32_t operations = 0;
};
using LaneTimes = std::array<LaneTime, kLaneCount>;

/// Charges every gap of the compute lane to the lanes whose operations it waited for, following the
/// chain of waits back to the gap's start. `step` is the steady step time: intervals of the step
/// before are those less `step`. Precondition: one interval an operation.
LaneTimes lane_times(const StepProgram& program, const std::vector<OperationInterval>& intervals,
                     Seconds step);

/// A stretch during which compute waits, and for what.
struct ExposedWait {
    Lane lane = Lane::compute;  ///< that is waited for
    OperationId cause = 0;      ///< of it
    OperationId waiting = 0;    ///< the compute operation that cannot start
    Seconds start = 0, end = 0;
};

/// What lane_times() adds up as exposed, stretch by stretch, in the order of the compute operations
/// that wait; of one, the latest first. Times may lie outside [0, step). Precondition: one interval
/// an operation.
std::vector<ExposedWait> exposed_waits(const StepProgram& program,
                                       const std::vector<OperationInterval>& intervals,
                                       Seconds step);

/// Share of the step that each lane has on the critical path: the chain of operations, each waiting
/// for the one before, that ends with the step's last compute operation. The lane with the largest
/// share is what limits: making any other faster changes little. Shares sum to 1.
std::array<double, kLaneCount> critical_shares(const StepProgram& program,
                                               const std::vector<OperationInterval>& intervals,
                                               Seconds step);

/// Seconds a step that each operation runs on the critical path: all of its time, none, or less
/// where the path is not the same in every step. In the program's order.
std::vector<Seconds> critical_seconds(const StepProgram& program,
                                      const std::vector<OperationInterval>& intervals,
                                      Seconds step);

}  // namespace sluice
