// How much must each lane do in a step, and in which parts of it? Two plans' work can be added and
// subtracted, so that a plan with some layers more of a kind is estimated without being made.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// The kinds of parts of a step, by what compute does: forward, the loss and backward, and updates
/// on the GPU after them. A step with several passes has a forward and a backward for each.
inline constexpr unsigned kStepParts = 3;

/// The kinds of parts in which work may run, one bit each.
using StepParts = unsigned;

struct StepWork {
    static constexpr std::array<Lane, 5> kLanes = {
        Work::compute, Work::host_to_device, Work::device_to_host, Work::optimizer, Work::host};
    struct OfLane {
        /// By StepParts; alone, and the GPU at its power limit.
        std::array<Seconds, 1u << kStepParts> seconds{};
        double bytes = 0;
    };
    std::array<OfLane, kLanes.size()> lanes{};
    Seconds rest = 0;  ///< from the last compute of a step to the first of the next
    double device_bytes = 0, host_bytes = 0;  ///< at their peaks

    /// `times` as much of `other` more.
    void add(const StepWork& other, double times);
};

/// All that the work of a plan's step depends on but the machine, in little memory.
struct StepOutline {
    StepProgram kinds;                 ///< one operation of each that demand the same, unordered
    std::vector<StepParts> parts;      ///< in which each of them may run
    std::vector<std::uint32_t> order;  ///< the kind of each of the plan's operations
    StepProgram rest;  ///< operations from the last compute of a step to the first of the next
    std::vector<std::uint32_t> rest_order;    ///< and their kinds
    double device_bytes = 0, host_bytes = 0;  ///< at their peaks, of memories that are apart
};
/// Precondition: the plan's waits are derived.
StepOutline step_outline(const StepPlan& plan);

/// `demands` are operation_demands() of the outline's kinds.
StepWork step_work(const StepOutline& outline, const std::vector<FlowDemand>& demands,
                   const MachineSpec& machine);

/// The share of its rate that each of StepWork::kLanes has while all of `active` run, whose rates
/// alone are in bytes/s.
std::array<double, StepWork::kLanes.size()> lane_shares(
    const std::array<double, StepWork::kLanes.size()>& active, const MachineSpec& machine,
    const TrainingSpec& training);

}  // namespace sluice
