// Which plans may be the fastest on a machine? Those that keep the rules, fit, and cannot do less
// work.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// A training that keeps the rules, and its plan.
struct Planned {
    TrainingSpec training;
    StepPlan plan;
    bool fits = false;
    double spare_bytes = 0;  ///< of the memory that layers fill; below 0: short
};

/// What backward computes again and where the tables are, with the fewest resident layers and
/// the most kept ones.
struct Way {
    Planned start;
    Seconds at_least = 0;  ///< with any number of resident layers
};

class PlanCandidates {
  public:
    using Layers = std::int64_t TrainingSpec::*;

    /// Options of `fixed` keep the values of `asked`. All arguments must outlive it.
    PlanCandidates(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                   const std::set<std::string>& fixed)
        : model_(model), machine_(machine), asked_(asked), fixed_(fixed) {}

    bool is_free(const char* field) const { return !fixed_.contains(field); }
    /// Whether plans that fit leave room, too (Fit::leaves_room).
    void leave_room(bool leave) { leave_room_ = leave; }

    std::optional<Planned> fitting(const TrainingSpec& training) const;
    /// Every combination of recomputation and home of the tables that fits, the least compute
    /// first. Checkpoints are on the host only if they do not fit the device.
    std::vector<Way> ways(TrainingSpec start) const;
    /// With the largest number of layers that fits, found along a line, as memory grows almost so.
    Planned with_most(Planned low, Layers layers) const;
    /// With the largest number of last layers that keep everything for backward, if that is free.
    Planned with_kept_layers(Planned one) const;

  private:
    /// Empty if the training breaks a rule.
    std::optional<Planned> planned(const TrainingSpec& training) const;
    std::optional<Planned> with_needed_layers(const TrainingSpec& training) const;
    Way way_from(Planned start) const;

    /// All of these values of an option where it is free, else what was asked.
    template <typename Value>
    std::vector<Value> choices(const char* field, Value TrainingSpec::*member,
                               std::vector<Value> all) const {
        return is_free(field) ? all : std::vector<Value>{asked_.*member};
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    bool leave_room_ = false;
};

}  // namespace sluice
