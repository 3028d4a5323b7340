// How much must each lane do in a step, and in which parts of it? Two plans' work can be added and
// subtracted, so that a plan with some layers more of a kind is estimated without being made.
#pragma once

#include <array>

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

/// `demands` are operation_demands() of the same plan, machine and settings.
StepWork step_work(const StepPlan& plan, const std::vector<FlowDemand>& demands,
                   const MachineSpec& machine);

/// The share of its rate that each of StepWork::kLanes has while all of `active` run, whose rates
/// alone are in bytes/s.
std::array<double, StepWork::kLanes.size()> lane_shares(
    const std::array<double, StepWork::kLanes.size()>& active, const MachineSpec& machine,
    const TrainingSpec& training);

}  // namespace sluice
