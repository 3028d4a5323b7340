// How fast is a plan, and which number of resident layers makes it fastest? Plans that cannot beat
// the fastest so far are not simulated.
#pragma once

#include <limits>
#include <map>
#include <vector>

#include "sim/answers/predict/plan_ways.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

inline constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
/// A change that gains a smaller share of the step is not worth its memory or a simulation.
inline constexpr double kLeastWorth = 0.001;

/// A training and its step; kNever where it was not simulated.
struct TimedTraining {
    TrainingSpec training;
    Seconds seconds = kNever;
};

/// All arguments must outlive it.
class PlanTrials {
  public:
    PlanTrials(const ModelSpec& model, const MachineSpec& machine, const PlanSpace& space,
               const TrainingSpec& asked, const PriceList& prices)
        : model_(model), machine_(machine), space_(space), prices_(prices), best_{asked} {}

    /// The fastest so far.
    const TimedTraining& best() const { return best_; }
    void set_best(TimedTraining best) { best_ = std::move(best); }
    bool found() const { return best_.seconds != kNever; }
    bool could_gain(Seconds at_least) const { return at_least < best_.seconds * (1 - kLeastWorth); }

    void try_plan(const Planned& one) { try_beyond(one, 1); }
    /// Several GPUs keep all of a step in their memory: tries micro-batches with as many layers
    /// that keep everything as fit. Smaller ones free memory for more such layers; ends at the
    /// first size that gains nothing.
    void try_micro_batches_of_gpus(const TrainingSpec& asked);
    /// Tries numbers of resident layers that fit, and returns the fastest that was simulated.
    TimedTraining try_layers(const PlanWay& way);

    /// Whether a plan is worth the host memory that it takes more, which a rent counts in GPUs of
    /// the node.
    using IsWorth = bool (PlanTrials::*)(const TimedTraining& with,
                                         const TimedTraining& without) const;
    bool is_worth_gpus(const TimedTraining& with, const TimedTraining& without) const;
    /// Tokens are no dearer.
    bool is_worth_bill(const TimedTraining& with, const TimedTraining& without) const;
    /// As is_worth_gpus(), and by more than the error of a prediction.
    bool is_worth_codes(const TimedTraining& with, const TimedTraining& without) const;

  private:
    /// What is billed for an hour: dollars of the typical rent; kNever if no rent holds the plan.
    /// In GPUs of the node where no price is known.
    double bill(const TrainingSpec& training) const;
    struct Tried {
        Seconds seconds = 0;         ///< the estimate where the plan cannot be the fastest
        double over_bound = kNever;  ///< factor on the bound, where it is simulated
    };
    /// Takes a step to exceed its bound by the factor `over_bound` at least.
    Tried try_beyond(const Planned& one, double over_bound);
    Seconds simulated(const Planned& one, const TrainingSpec& plainest);
    TrainingSpec plainest(TrainingSpec training) const;

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const PlanSpace& space_;
    const PriceList& prices_;
    TimedTraining best_;
    std::map<std::vector<double>, Seconds> simulated_;  ///< by the values of all options
};

}  // namespace sluice
