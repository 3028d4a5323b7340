#include "sim/answers/predict/step_ahead.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/answers/predict/nearest_number.h"
#include "sim/answers/predict/plan_space.h"
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/simulate/simulate_step.h"

namespace sluice {
namespace {

bool can_be_ahead(const ModelSpec& model, const TrainingSpec& training) {
    if (!training.schedule->ours) return false;
    const Placement homes = placement_of(model, training);
    for (int section = 0; section < homes.sections.count(); ++section)
        if (homes.update(section).may_be_ahead) return true;
    return false;
}

bool is_worth(Seconds ahead, Seconds waits) { return ahead * (1 + kWorthAhead) <= waits; }

class AheadSearch {
  public:
    AheadSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                const std::set<std::string>& fixed, const TrainingSpec& waiting, Seconds waits)
        : model_(model),
          machine_(machine),
          space_(model, machine, asked, fixed),
          most_waits_(waits * (1 + kGivenUp)),
          best_(waiting),
          waits_(waits),
          ahead_(time_ahead(waiting)) {
        const Fit fit = check_fit(plan_memory(model, machine, waiting), machine, waiting);
        space_.leave_room(fit.leaves_room());
        // More than a GPU's part of the host's memory may be billed.
        const auto all = static_cast<double>(machine.host.memory_capacity);
        most_host_ = std::max(fit.host().peak.bytes,
                              static_cast<Bytes>(all / std::max(1.0, machine.host.gpus)));
    }

    void run() {
        try_host_kept_layers(TrainingSpec(best_));
        try_deferred_layers(TrainingSpec(best_));
    }
    bool is_worth_it() const { return is_worth(ahead_, waits_); }
    const TrainingSpec& best() const { return best_; }
    Seconds waits() const { return waits_; }
    /// The time of a step that waits; empty if the training does not fit.
    std::optional<Seconds> waits(const TrainingSpec& training) const {
        std::optional<Planned> planned = space_.fitting(training);
        return planned ? std::optional(time(*std::move(planned))) : std::nullopt;
    }

  private:
    Seconds time_ahead(const TrainingSpec& training) const {
        return time({training, plan_streamed(model_, machine_, training, ClippedStep::ahead).step});
    }
    Seconds time(Planned planned) const {
        const Planned one = space_.timeable(std::move(planned));
        return quick_step(one.plan.program, one.demands, machine_, one.training,
                          std::numeric_limits<Seconds>::infinity())
            .step;
    }

    /// The step that clips nothing; kNever if the training does not fit or gives up too much.
    Seconds tried(const TrainingSpec& training) {
        // Less than this is not worth another setting.
        constexpr double kLeast = 0.005;
        std::optional<Planned> planned = space_.fitting(training);
        if (!planned || planned->host_peak > most_host_) return kNever;
        const Seconds ahead = time_ahead(training);
        if (ahead * (1 + kLeast) > ahead_) return ahead;
        const Seconds waits = time(*std::move(planned));
        if (waits > most_waits_) return kNever;
        best_ = training, ahead_ = ahead, waits_ = waits;
        return ahead;
    }

    /// Compute limits a step that clips nothing, so it gains by what need not be computed again. In
    /// one that clips, the optimizer has that time.
    void try_host_kept_layers(const TrainingSpec& from) {
        if (!space_.may_set("host_kept_layers") || from.passes > 1 || from.saves_half() ||
            from.recompute == Recompute::none)
            return;
        for (const std::int64_t parts : {1, 2})
            for (const std::int64_t less : {0, 1})
                if (const auto start = in_parts(from, parts, less))
                    nearest_number(model_.layer_count() - start->keep_last_layers, ahead_,
                                   [&, training = *start](std::int64_t layers) mutable {
                                       training.host_kept_layers = layers;
                                       return tried(training);
                                   });
    }

    /// The tensors that layers keep pass through two places on the device, for which micro-batches
    /// are smaller, or a resident layer leaves.
    std::optional<TrainingSpec> in_parts(TrainingSpec training, std::int64_t parts,
                                         std::int64_t less) const {
        const std::int64_t sequences = training.micro_batch_sequences();
        if (parts > 1 && (!space_.is_free("micro_batch") || sequences % parts != 0))
            return std::nullopt;
        if (parts > 1) training.micro_batch = sequences / parts;
        if (less == 0) return training;
        if (!space_.is_free("resident_layers") || training.resident_layers < less)
            return std::nullopt;
        for (const HomeKind& kind : home_kinds())
            if (kind.takes_all && space_.is_free(kind.field()) &&
                training.*kind.layers == kind.most(model_, training).layers)
                training.*kind.layers += less;
        training.resident_layers -= less;
        return training;
    }

    void try_deferred_layers(TrainingSpec training) {
        if (!space_.may_set("deferred_layers")) return;
        nearest_number(model_.layer_count() - training.resident_layers, ahead_,
                       [&](std::int64_t layers) {
                           training.deferred_layers = layers;
                           return tried(training);
                       });
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    PlanSpace space_;
    const Seconds most_waits_;
    Bytes most_host_ = 0;
    TrainingSpec best_;
    Seconds waits_, ahead_;
};

}  // namespace

std::optional<Seconds> step_ahead(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, Seconds waits) {
    if (!can_be_ahead(model, training)) return std::nullopt;
    const Seconds ahead =
        quick_step(plan_streamed(model, machine, training, ClippedStep::ahead).step, machine,
                   training)
            .step;
    return is_worth(ahead, waits) ? std::optional(ahead) : std::nullopt;
}

PlanChoice also_good_ahead(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& asked, PlanChoice choice,
                           const std::set<std::string>& fixed) {
    if (!choice.step || !can_be_ahead(model, choice.training)) return choice;
    AheadSearch search(model, machine, asked, fixed, choice.training, *choice.step);
    search.run();
    if (!search.is_worth_it() || changed_settings(choice.training, search.best()).empty())
        return choice;
    PlanChoice out{search.best(), search.waits(), choice.step_as_asked, {}};
    for (const Option& option : training_options()) {
        if (option.get(out.training) == option.get(asked)) continue;
        TrainingSpec without = out.training;
        option.set(without, option.get(asked));
        out.settings.push_back(
            {{option.field, option_text(out.training, option)}, search.waits(without)});
    }
    return out;
}

}  // namespace sluice
