// The fastest plan near another: steps to faster ones, some layers more or less of a kind.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "sim/answers/predict/plan_columns.h"
#include "sim/answers/predict/plan_trials.h"

namespace sluice {

/// All arguments must outlive it.
class PlanDescent {
  public:
    PlanDescent(const ModelSpec& model, const TrainingSpec& asked, const PlanSpace& space,
                PlanTrials& trials);

    /// A plan that fits to begin with, and the columns of its frame.
    void add(const Planned& start, std::shared_ptr<const PlanColumns> columns);
    /// Whether plans have been added.
    bool begins() const { return !starts_.empty(); }
    /// Whether run() finds a plan.
    bool any();
    /// Simulates the plans that promise the most, and others near the fastest of them while these
    /// are faster. The trials know the fastest.
    void run();

  private:
    /// Only those that promise the most.
    static constexpr std::size_t kMostStarts = 16;
    struct Start {
        Planned planned;
        std::shared_ptr<const PlanColumns> columns;
        Seconds promised;
    };
    struct At {
        Planned planned;
        PlanTrials::Tried tried;
        std::shared_ptr<const PlanColumns> columns;
    };
    void try_ends(At& at);
    bool try_steps(At& at, std::int64_t stride);
    bool try_step(At& at, const TrainingSpec& training);
    std::optional<Planned> filled(TrainingSpec training, const PlanColumns& columns);
    std::optional<Planned> laid_out(Planned one, const PlanColumns& columns) const;
    std::vector<TrainingSpec> other_choices(const TrainingSpec& from) const;
    TrainingSpec within_most(TrainingSpec changed, const TrainingSpec& before) const;

    const ModelSpec& model_;
    const TrainingSpec& asked_;
    const PlanSpace& space_;
    PlanTrials& trials_;
    const std::vector<Amount> amounts_;
    std::vector<Start> starts_;
    std::vector<At> begun_;               ///< those that have been simulated
    std::set<std::vector<double>> seen_;  ///< by the values of all options
};

}  // namespace sluice
