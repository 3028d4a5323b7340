// Which settings could make a step fastest, before any of them is simulated? Every way to use the
// memory that fits.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// A number of layers in a training.
using Layers = std::int64_t TrainingSpec::*;

/// A training that keeps the rules, and its plan; without waits until it is timed (with_waits()).
struct Planned {
    TrainingSpec training;
    StepPlan plan;
    bool fits = false;
    double spare_bytes = 0;  ///< of the memory that layers fill; below 0: short
    Bytes host_peak = 0;
};

Planned with_waits(Planned one);

/// A choice of what backward computes again and of the tables' places, with the fewest resident
/// layers and the most kept ones.
struct PlanWay {
    Planned start;
    Layers kept = nullptr;  ///< everything of them, or attention's output
    Seconds at_least = 0;   ///< with any number of resident layers
};

/// Whether both compute the same again and have the tables in the same place.
inline bool is_like(const TrainingSpec& a, const TrainingSpec& b) {
    return a.recompute == b.recompute && a.resident_tables == b.resident_tables;
}

/// Trainings with other values of the options that are not `fixed`. All arguments must outlive it.
class PlanSpace {
  public:
    PlanSpace(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
              const std::set<std::string>& fixed)
        : model_(model), machine_(machine), asked_(asked), fixed_(fixed) {}

    /// Whether plans fit only if they leave room (Fit::leaves_room).
    void leave_room(bool leave) { leave_room_ = leave; }
    bool is_free(const char* field) const { return !fixed_.contains(field); }
    bool may_set(const char* field) const;
    /// A number of deferred layers, or, where updates wait for the norm, visiting ones or late
    /// moments.
    bool may_try(Layers layers) const;

    /// Empty if the training breaks a rule.
    std::optional<Planned> planned(const TrainingSpec& training) const;
    /// Empty also if it does not fit.
    std::optional<Planned> fitting(const TrainingSpec& training) const;
    /// Every combination of recomputation, home of the tables and saved inputs that fits, the least
    /// compute first. Checkpoints are on the host only if they do not fit the device. Half of them
    /// are computed again, in either place, only where attention's outputs do not fit beside all.
    /// With `like`: only its recomputation and home of the tables.
    std::vector<PlanWay> ways(TrainingSpec start, const TrainingSpec* like = nullptr) const;
    /// With the largest number of layers that fits, found along a line, as memory grows almost so.
    Planned with_most(Planned low, Layers layers) const;
    /// With the largest number of layers that keep everything, or attention's output, if that
    /// number is free.
    Planned with_kept_layers(Planned one, Layers kept) const;

  private:
    template <typename Value>
    std::vector<Value> choices(const char* field, Value TrainingSpec::*member,
                               std::vector<Value> all) const;
    std::optional<Planned> with_home_of_inputs(TrainingSpec training) const;
    std::optional<Planned> with_needed_layers(const TrainingSpec& training) const;
    bool add_ways(Planned one, std::vector<PlanWay>& out) const;
    PlanWay way_from(Planned start, Layers kept) const;

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    bool leave_room_ = false;
};

}  // namespace sluice
