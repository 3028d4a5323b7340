// What does a plan say before it runs, and what do the times of its operations add: what was each
// lane doing, what did compute wait for? A prediction and a measured run are made of the same
// values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// What was asked, as far as an answer repeats it.
struct AskedStep {
    std::string model_name;
    std::string model_note;
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;
    int layers = 0;
    bool tied_embeddings = false;
    std::string machine_id;
    std::string machine_name;
    std::vector<std::string> machine_changes;  ///< what-if values, as flags
    TrainingSpec training;
};
AskedStep asked_step(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training);

/// A plan on a machine: whether it fits, and what its numbers rest on.
struct PlannedStep : StepPlan {  // `assumptions` are those of the machine, then the schedule's
    Fit fit;
    Bytes device_capacity = 0;
    Bytes device_context = 0;
    Bytes host_capacity = 0;
    bool unified_memory = false;
    Flops executed_flops = 0;  ///< of all GPUs, with recomputation
    Confidence confidence = Confidence::datasheet;
};
PlannedStep planned_step(StepPlan plan, const MachineSpec& machine, const TrainingSpec& training);

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

/// The precision of activations; a plan counts bf16.
enum class Precision : std::uint8_t { bf16, fp32 };
inline const char* precision_name(Precision precision) {
    return precision == Precision::fp32 ? "fp32" : "bf16";
}

/// With fewer steps, 5% and 95% are the fastest and the slowest.
inline constexpr int kFewSteps = 20;

/// What only a measured step has.
struct Measurement {
    Bytes device = 0;  ///< most in use as the driver says, less the context
    Bytes host = 0;    ///< most resident in the process
    int steps = 0;     ///< that the step's time is the median of; 0: not known
    /// 5% and 95% of the steps took less; with fewer than kFewSteps the fastest and the slowest.
    Seconds low = 0, high = 0;
    Precision precision = Precision::bf16;
    std::int64_t redone = 0;  ///< steps that speculative clipping redid, which do not count
};

/// Share of a resource's capacity that a steady step uses.
struct Utilization {
    std::string resource;
    double share = 0;
};

/// A steady step over time.
struct Step {
    Seconds seconds = 0;
    Seconds first = 0;  ///< the first step; 0: not known
    int unsettled = 0;  ///< simulated steps whose mean this is, as none repeated another; or 0
    std::vector<OperationInterval> intervals;  ///< one an operation, in the program's order
    LaneTimes lanes{};
    std::array<double, kLaneCount> critical_shares{};  ///< of the step, by lane; sum 1
    std::vector<Utilization> utilization;              ///< only predicted
    std::optional<Measurement> measured;               ///< nothing: it is predicted

    /// The lane with the largest share of the critical path: the one whose speed sets the step's.
    Lane bottleneck() const;
    const LaneTime& lane(Lane one) const { return lanes[static_cast<std::size_t>(one)]; }
};
/// The resource of a lane that limits, for programs ("gpu_compute") and for people ("GPU compute").
const char* bottleneck_name(Lane lane);
const char* bottleneck_label(Lane lane);
/// From when each operation of a steady step of `seconds` ran.
Step step_of(const StepProgram& program, std::vector<OperationInterval> intervals, Seconds seconds);

/// A plan and the times of its operations, predicted or measured.
struct TimedPlan {
    AskedStep asked;
    PlannedStep plan;
    Step step;  ///< of a plan that does not fit: simulated nevertheless

    double tokens_per_s() const { return tokens_per_s_at(step.seconds); }
    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(asked.training.tokens()) / one_step;
    }
    /// 6 P T: six FLOPs a parameter and token, whatever is recomputed. P are the active parameters.
    double model_flops_per_s() const {
        return 6 * static_cast<double>(asked.active_parameters) * tokens_per_s();
    }
    double executed_flops_per_s() const { return plan.executed_flops / step.seconds; }
};

/// A memory that is too small.
struct Shortage {
    std::string memory;  ///< "device", "shared memory"
    Bytes needed = 0, usable = 0;
    MemoryKind largest{};  ///< of what is needed
    Bytes of_largest = 0;
};
std::vector<Shortage> find_shortages(const PlannedStep& plan);

}  // namespace sluice
