// Which mixture of homes makes a step fastest, by what a layer of each kind costs? A linear program
// over the columns of the kinds: bytes by memory, seconds by lane.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/answers/predict/plan_space.h"
#include "sim/simulate/step_work.h"

namespace sluice {

/// An amount that a plan has of something: layers of a kind of home, or 1 of a choice of two.
struct Amount {
    const Option* option;
    double one;         ///< the option's value where the amount is 1
    std::int64_t most;  ///< alone
    Layers layers;      ///< null: a choice of two
    double value(std::int64_t amount) const { return one * static_cast<double>(amount); }
};

/// Bytes of memories that a plan may take.
struct MemoryLimits {
    double device = 0, host = 0;
};

/// Seconds of the step that are given for a second less of work beside compute: with `little`, such
/// work only decides between equally fast mixtures; `much` leaves time for work that comes in
/// bursts.
enum class Quiet { little, much };

/// Whether its layers keep tensors for backward, each in one way.
bool keeps(const Amount& amount);

/// The amounts that the search may set.
std::vector<Amount> free_amounts(const ModelSpec& model, const PlanSpace& space);

/// The work and memory that one of an amount adds to a step.
struct MixColumn {
    std::size_t amount;  ///< its index
    StepWork each;
    double device_fixed = 0, host_fixed = 0;  ///< bytes that any number of them takes
    double most = 0;
    std::vector<double> less;  ///< by which one of each other column lowers `most`
};

/// The costs of each amount, taken from plans that have none, one and half of it.
class PlanColumns {
  public:
    /// `exact`: what the first of a kind takes is told apart from what each takes.
    enum class Detail { rough, exact };
    /// Amounts of which `base` has some stay. It need not fit. Null if it breaks a rule.
    static std::shared_ptr<const PlanColumns> of(const ModelSpec& model, const MachineSpec& machine,
                                                 const PlanSpace& space, const TrainingSpec& base,
                                                 std::vector<Amount> amounts, Detail detail);

    /// The fastest mixture within the limits, whose parts may be no whole numbers.
    struct Solution {
        Seconds seconds = 0;
        std::vector<double> amounts;  ///< by column
    };
    std::optional<Solution> solve(const MemoryLimits& limits) const {
        return solve(limits, Quiet::little, none());
    }
    /// The same with the choices of two that `training` has.
    std::optional<Solution> solve_with(const TrainingSpec& training,
                                       const MemoryLimits& limits) const;
    /// Whether a solution has some of an amount.
    bool has(const Solution& solution, std::string_view field) const;
    /// The fastest plan within the limits; empty if none is.
    std::optional<Planned> fastest(const MemoryLimits& limits, Quiet quiet) const {
        return fastest(limits, quiet, none());
    }
    /// The same without the kinds of its mixture any number of which takes memory of the device,
    /// since that may not have it: more memory of the host offers such kinds, and must not leave no
    /// plan where less of it does. Empty if there are none.
    std::optional<Planned> fastest_of_others(const MemoryLimits& limits, Quiet quiet) const;
    /// The least time of a timeable() plan, by the work of each part of its step.
    Seconds time_of(const Planned& one) const;
    /// Bytes that a layer more of a kind takes on the device; 0 if that is not known.
    double device_bytes(Layers layers) const;

  private:
    PlanColumns(const ModelSpec& model, const MachineSpec& machine, const PlanSpace& space,
                const TrainingSpec& base)
        : model_(model), machine_(machine), space_(space), base_(base) {}
    /// By column: which are used, so that they take what any number of them takes, and which have
    /// no layers.
    using Marked = std::vector<bool>;
    std::optional<Solution> solve(const MemoryLimits& limits, Quiet quiet, const Marked& used,
                                  const Marked& without,
                                  const TrainingSpec* choices = nullptr) const;
    std::optional<Solution> solve(const MemoryLimits& limits, Quiet quiet,
                                  const Marked& without) const;
    std::optional<Planned> fastest(MemoryLimits limits, Quiet quiet, const Marked& without) const;
    Marked none() const { return Marked(columns_.size(), false); }
    TrainingSpec rounded(const std::vector<double>& amounts) const;

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const PlanSpace& space_;
    TrainingSpec base_;
    StepWork work_;
    std::vector<Amount> amounts_;
    std::vector<MixColumn> columns_;
};

}  // namespace sluice
