// How fast is a plan? Plans that cannot beat the fastest so far are not simulated.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/answers/predict/plan_space.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

inline constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
/// A change that gains a smaller share of the step is not worth its memory or a simulation.
inline constexpr double kLeastWorth = 0.001;

/// A training and its step; kNever where it was not simulated, a lower estimate where its
/// simulation ended early since it cannot be the fastest.
struct TimedTraining {
    TrainingSpec training;
    Seconds seconds = kNever;
    /// The step, longer by as much as an hour of its part of the node costs more than that of
    /// bill_beside().
    Seconds billed = kNever;
};

/// All arguments must outlive it.
class PlanTrials {
  public:
    PlanTrials(const ModelSpec& model, const MachineSpec& machine, const PlanSpace& space,
               const TrainingSpec& asked, const PriceList& prices)
        : model_(model), machine_(machine), space_(space), prices_(prices), best_{asked} {}

    /// The fastest so far: the least `billed`.
    const TimedTraining& best() const { return best_; }
    void set_best(TimedTraining best) { best_ = std::move(best); }
    bool found() const { return best_.seconds != kNever; }
    bool could_gain(Seconds at_least) const { return at_least < best_.billed * (1 - kLeastWorth); }
    /// More host memory may be a larger part of a node. From now on a plan must be faster than
    /// this one, or the base before, by as much as it bills more than the less dear of these: by
    /// the typical rents, or in GPUs of the node where no rent holds it.
    void bill_beside(const NodeShare& base);
    void bill_beside(const TimedTraining& base);
    /// Bytes of host memory that a plan may have without a larger bill, then with one more GPU's
    /// part each; empty where all of it costs the same.
    std::vector<double> host_parts(const TrainingSpec& training) const;
    /// The factor on the step that host memory and GPUs alone make it dearer by.
    double least_bill(const Planned& one) const;

    void try_plan(Planned one) { try_beyond(space_.timeable(std::move(one)), 1); }
    /// Simulates it, whatever its bound.
    TimedTraining timed(Planned one);
    /// For a schedule without resident layers: tries every place of its tensors, each with
    /// try_micro_batches().
    void try_places(const TrainingSpec& asked);
    /// Its bound, longer by that factor. Precondition: it is timeable().
    TimedTraining estimated(const Planned& one, double over_bound) const;
    /// Whether that may be billed less.
    bool may_gain(const Planned& one, double over_bound, Seconds than) const {
        return estimated(one, over_bound).billed < than * (1 - kLeastWorth);
    }
    struct Tried {
        TimedTraining timed;         ///< an estimate where the plan cannot be the fastest
        double over_bound = kNever;  ///< factor on the bound, where it is simulated
    };
    /// Takes a step to exceed its bound by the factor `over_bound` at least. Precondition: it is
    /// timeable().
    Tried try_beyond(const Planned& one, double over_bound) {
        return try_beyond(one, over_bound, best_.billed);
    }
    /// Simulates it only if it may be billed less than that.
    Tried try_beyond(const Planned& one, double over_bound, Seconds than);

  private:
    struct Simulated {
        Seconds seconds = 0;
        bool to_the_end = false;  ///< else `seconds` is a lower estimate, and `share` is not known
        NodeShare share;
    };
    /// Ends once a step takes longer than `worth`.
    const Simulated& simulated(const Planned& one, const TrainingSpec& plainest, Seconds worth);
    /// Tries every recomputation in micro-batches, with as many layers that keep everything as fit.
    /// Smaller ones free memory for less recomputation: ends at the first size that gains nothing
    /// and frees no memory that is needed.
    void try_micro_batches(const TrainingSpec& asked);
    std::vector<Recompute> recomputes(const TrainingSpec& asked) const;
    std::optional<Planned> fitting_in_parts(const TrainingSpec& training) const;
    TrainingSpec plainest(TrainingSpec training) const;
    double usd_per_hour(const NodeShare& share) const;
    double bill_over_base(const NodeShare& share) const;

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const PlanSpace& space_;
    const PriceList& prices_;
    TimedTraining best_;
    std::map<std::vector<double>, Simulated> simulated_;  ///< by the values of all options
    std::optional<NodeShare> base_;                       ///< of bill_beside()
};

}  // namespace sluice
