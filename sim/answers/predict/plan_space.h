// Which settings may a search of plans set, and which plans fit?
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/answers/predict/known_plans.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/step_work.h"

namespace sluice {

struct HomeKind;

/// A number of layers in a training.
using Layers = std::int64_t TrainingSpec::*;

/// A training that keeps the rules, and its plan; without waits until it may be timed
/// (PlanSpace::timeable()).
struct Planned {
    TrainingSpec training;
    StepPlan plan;
    std::vector<FlowDemand> demands = {};  ///< of its operations; empty without waits
    bool fits = false;
    double spare_bytes = 0;  ///< of the memory that layers fill; below 0: short
    Bytes host_peak = 0;
};

/// Whether a plan's bytes fit, without the gaps between buffers.
struct PlannedBytes {
    bool fits = false;
    double spare_bytes = 0;  ///< as Planned has them
};

/// The values of all options, by which equal trainings are found.
std::vector<double> option_values(const TrainingSpec& training);

/// Trainings with other values of the options that are not `fixed`. All arguments must outlive it.
class PlanSpace {
  public:
    PlanSpace(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
              const std::set<std::string>& fixed)
        : model_(model),
          machine_(machine),
          asked_(asked),
          fixed_(fixed),
          kernel_costs_(machine.gpu),
          known_plans_(KnownPlans::of_thread()) {}

    /// Whether plans fit only if they leave room (Fit::leaves_room).
    void leave_room(bool leave) { leave_room_ = leave; }
    bool leaves_room() const { return leave_room_; }
    bool is_free(const char* field) const { return !fixed_.contains(field); }
    bool may_set(const char* field) const;
    /// Whether a search may give some layers homes of that kind; deferred ones only where updates
    /// do not wait for the norm. Precondition: its layers are counted.
    bool may_try(const HomeKind& kind) const;

    /// Empty if the training breaks a rule; without waits.
    std::optional<StepPlan> plan(const TrainingSpec& training) const;
    /// The same, and whether its bytes fit, without the gaps between buffers.
    std::optional<Planned> planned(const TrainingSpec& training) const;
    /// The bytes of our schedule, whose plan is made once; `made` gets it where that is now. Empty
    /// if the training breaks a rule.
    std::optional<PlannedBytes> bytes(const TrainingSpec& training,
                                      std::optional<Planned>& made) const;
    /// The work of the plan's lanes, of our schedule; it is made once.
    const std::optional<StepWork>& work(const TrainingSpec& training) const;
    /// Whether it fits with these, too. Takes longer than the plan, so it is asked last.
    void lay_out(Planned& one) const;
    /// Empty also if it does not fit, gaps included.
    std::optional<Planned> fitting(const TrainingSpec& training) const;
    /// With waits, and what its operations demand.
    Planned timeable(Planned one) const;
    /// With the largest number of layers that keep everything and fit, if that number is free;
    /// found along a line, as memory grows almost so.
    Planned with_kept_layers(Planned low) const;

    std::vector<FlowDemand> demands(const StepProgram& program,
                                    const TrainingSpec& training) const {
        return operation_demands(program, machine_, training, kernel_costs_);
    }

  private:
    void set_fit(Planned& one, Gaps gaps) const;
    /// Whether the training keeps the rules, on this machine, too, and given options have their
    /// whole effect.
    bool keeps_rules(const TrainingSpec& training) const;
    /// For known_plans_: our plan depends on nothing of the machine but the size of its process.
    KnownPlans::Key key(const TrainingSpec& training) const;

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    bool leave_room_ = false;
    // Known of plans, by the values of all options: a search asks again for many.
    mutable std::map<std::vector<double>, std::optional<StepWork>> work_;
    mutable KernelCosts kernel_costs_;
    std::shared_ptr<KnownPlans> known_plans_;  ///< on all machines
};

}  // namespace sluice
