// Which facts follow from a plan before it runs, and from its operations' times: what did each lane
// do, and what did compute wait for? Predicted and measured steps have the same types.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/format.h"
#include "sim/plan/host_rates.h"
#include "sim/plan/runs_today.h"
#include "sim/plan/step_plan.h"

namespace sluice {

/// The part of the question that answers repeat.
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
    RunsToday runs_today;

    /// "16 x h200-sxm-pcie5".
    std::string gpus_and_machine() const { return format_gpus(training.gpus, machine_id); }
};
/// The training says as many layers kept on the host as there are.
AskedStep asked_step(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training);

/// A plan on a machine: whether it fits, and its assumptions.
struct PlannedStep : StepPlan {  // `assumptions` are the machine's, then the schedule's
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

struct LaneTime {
    Seconds busy = 0;
    Seconds exposed = 0;  ///< compute waited for this lane; part of busy
    Seconds idle = 0;     ///< step less busy
    double bytes = 0;     ///< over the link, or of host memory
    std::int32_t operations = 0;
};
using LaneTimes = ByLane<LaneTime>;

/// Assigns every gap of the compute lane to the lanes whose operations it waited for, by following
/// the chain of waits back to the gap's start. `step` is the steady step time: intervals of the
/// previous step are these less `step`. Precondition: one interval per operation.
LaneTimes lane_times(const StepProgram& program, const std::vector<OperationInterval>& intervals,
                     Seconds step);

/// A stretch during which compute waits, and its cause.
struct ExposedWait {
    Lane lane;                ///< the operation that compute waits for
    OperationId cause = 0;    ///< its lane
    OperationId waiting = 0;  ///< the compute operation that cannot start
    Seconds start = 0, end = 0;
};

/// The stretches that lane_times() adds up as exposed, in the order of the compute operations that
/// wait; for one operation, the latest first. Times may lie outside [0, step). Precondition: one
/// interval per operation.
std::vector<ExposedWait> exposed_waits(const StepProgram& program,
                                       const std::vector<OperationInterval>& intervals,
                                       Seconds step);

/// Each lane's share of the critical path: the chain of operations, each waiting for the one
/// before, that ends with the step's last compute operation. The lane with the largest share is the
/// limit: making any other lane faster changes little. Shares sum to 1.
ByLane<double> critical_shares(const StepProgram& program,
                               const std::vector<OperationInterval>& intervals, Seconds step);

/// Seconds per step that each operation is on the critical path: all of its time, none, or less if
/// the path differs between steps. In the program's order.
std::vector<Seconds> critical_seconds(const StepProgram& program,
                                      const std::vector<OperationInterval>& intervals,
                                      Seconds step);

/// The precision of activations; a plan counts bf16.
enum class Precision : std::uint8_t { bf16, fp32 };
inline const char* precision_name(Precision precision) {
    return precision == Precision::fp32 ? "fp32" : "bf16";
}
/// The precision of the layers' products, whose operands are activations or cast from them.
inline const char* products_name(const TrainingSpec& training,
                                 Precision activations = Precision::bf16) {
    return training.compute == Compute::fp8 ? "fp8" : precision_name(activations);
}

/// With fewer steps, 5% and 95% are the fastest and the slowest.
inline constexpr int kFewSteps = 20;

/// Data that only a measured step has.
struct Measurement {
    Bytes device = 0;  ///< largest use as the driver reports, less the context
    Bytes host = 0;    ///< largest resident memory of the process
    int steps = 0;     ///< number of steps behind the median; 0: not known
    /// 5% and 95% of the steps took less; with fewer than kFewSteps the fastest and the slowest.
    Seconds low = 0, high = 0;
    Precision activations = Precision::bf16;
    std::int64_t redone = 0;    ///< steps that speculative clipping redid, which do not count
    bool ahead = false;         ///< with --clipping auto: they clipped nothing, so none waited
    double gpu_watts = 0;       ///< mean over the steps, as the driver counts energy; 0: not known
    HostRates host_rates = {};  ///< at the start of the run
    /// The step that a plan's prediction expected, with the rates of its profile and with those
    /// above; 0: no prediction.
    Seconds expected_step = 0, expected_step_at_host_rates = 0;
};

enum class Resource : std::uint8_t {
    gpu_compute,
    hbm,
    host_to_device,
    device_to_host,
    host_dram,
    optimizer_threads
};
/// "host_dram".
const char* resource_name(Resource resource);

/// Share of a resource's capacity that a steady step uses.
struct Utilization {
    Resource resource{};
    double share = 0;
};

struct Step {
    Seconds seconds = 0;
    Seconds first = 0;  ///< the first step; 0: not known
    int unsettled =
        0;  ///< number of simulated steps whose mean this is, since none repeated another; or 0
    std::vector<OperationInterval> intervals;  ///< one per operation, in the program's order
    LaneTimes lanes;
    ByLane<double> critical_shares;        ///< of the step, by lane; sum 1
    std::vector<Utilization> utilization;  ///< predicted steps only
    std::optional<Measurement> measured;   ///< empty: it is predicted

    /// The lane with the largest share of the critical path, whose speed decides the step time.
    Lane bottleneck() const;
    /// 0 if that is not known.
    double used(Resource resource) const {
        for (const Utilization& one : utilization)
            if (one.resource == resource) return one.share;
        return 0;
    }
    const LaneTime& lane(Lane one) const { return lanes[one]; }
    /// Those with operations.
    std::vector<Lane> used_lanes() const;
};
/// The resource behind a lane, for programs ("gpu_compute") and for people ("GPU compute").
std::string bottleneck_name(Lane lane);
std::string bottleneck_label(Lane lane);
/// The time from which on each operation of a steady step of `seconds` ran.
Step step_of(const StepProgram& program, std::vector<OperationInterval> intervals, Seconds seconds);

/// A plan and the times of its operations, predicted or measured.
struct TimedPlan {
    AskedStep asked;
    PlannedStep plan;
    Step step;  ///< if it does not fit, without the memory limit

    double tokens_per_s() const { return tokens_per_s_at(step.seconds); }
    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(asked.training.tokens()) / one_step;
    }
    /// 6 P T: six FLOPs per parameter and token, with or without recomputation. P are the active
    /// parameters.
    double model_flops_per_s() const {
        return 6 * static_cast<double>(asked.active_parameters) * tokens_per_s();
    }
    double executed_flops_per_s() const { return plan.executed_flops / step.seconds; }
};

/// A memory that is too small.
struct Shortage {
    std::string memory;  ///< "device", "shared memory"
    Bytes needed = 0, usable = 0;
    MemoryKind largest{};  ///< of the needed memory
    Bytes of_largest = 0;
};
std::vector<Shortage> find_shortages(const PlannedStep& plan);

// These say in words what limits a step, and which memory is too small.

/// "optimizer, 60% of the step's critical path; compute is busy 55% of the step".
std::string bottleneck_text(const Step& step);
/// "device needs 151.2 GB, has 139.8 GB (short 11.4 GB); largest: activations 88.0 GB".
std::string shortage_text(const Shortage& shortage, const BytesText& bytes = format_bytes);
/// One sentence for each memory that is too small.
std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes = format_bytes);

}  // namespace sluice
