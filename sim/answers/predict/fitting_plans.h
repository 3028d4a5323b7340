// Does a training fit this machine, and with how many layers of a kind at most?
#pragma once

#include <optional>

#include "sim/plan/step_plan.h"

namespace sluice {

/// A training that keeps the rules, and its plan.
struct Planned {
    TrainingSpec training;
    StepPlan plan;
    bool fits = false;
    double spare_bytes = 0;  ///< of the memory that layers fill; below 0: short
};

/// An option that counts layers.
using Layers = std::int64_t TrainingSpec::*;

/// Plans of trainings of one model on one machine, which outlive it.
class FittingPlans {
  public:
    FittingPlans(const ModelSpec& model, const MachineSpec& machine)
        : model_(model), machine_(machine) {}
    /// Whether plans that fit leave room (Fit::leaves_room).
    void set_leave_room(bool leave_room) { leave_room_ = leave_room; }

    /// Empty if the training breaks a rule.
    std::optional<Planned> planned(const TrainingSpec& training) const;
    /// Empty also if it does not fit.
    std::optional<Planned> fitting(const TrainingSpec& training) const;
    /// With the largest number of layers that fits, found along a line, as memory grows almost so.
    Planned with_most(Planned low, Layers layers) const;

  private:
    const ModelSpec& model_;
    const MachineSpec& machine_;
    bool leave_room_ = false;
};

}  // namespace sluice
