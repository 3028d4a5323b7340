#include "sim/plan/nearest_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "sim/base/input_error.h"
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

Fit fit_of_plan(const Asked& asked, const TrainingSpec& training, Gaps gaps = Gaps::until_it_fits) {
    return check_fit(plan_memory(asked.model, asked.machine, training), asked.machine, training,
                     gaps);
}

/// Empty if the candidate breaks a rule; then it is no advice.
std::optional<Fit> fit_of(const Asked& asked, const TrainingSpec& candidate) {
    if (refusal_of(candidate)) return std::nullopt;
    try {
        return fit_of_plan(asked, candidate);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

class Search {
  public:
    Search(const Asked& asked, std::size_t most, const std::function<void()>& before_each)
        : asked_(asked), most_(most), before_each_(before_each) {}

    std::vector<FittingTraining> run() {
        const std::vector<OptionChange> harmless = changes_of(asked_, Effect::frees_memory);
        const std::vector<OptionChange> other = changes_of(asked_, Effect::other_training);
        for (const OptionChange& change : harmless) try_changes({change});
        if (found_.empty()) try_pairs(harmless, harmless);
        if (found_.empty()) try_triples(harmless, harmless);
        for (const OptionChange& change : other) try_changes({change});
        if (found_.empty()) try_pairs(other, harmless);
        if (found_.empty()) try_pairs(other, other);
        if (found_.empty()) try_triples(other, harmless);
        return std::move(found_);
    }

  private:
    static bool in_order(const OptionChange& a, const OptionChange& b) {
        return std::string_view(a.option->field) < b.option->field;
    }

    void try_pairs(const std::vector<OptionChange>& first,
                   const std::vector<OptionChange>& second) {
        for (const OptionChange& a : first)
            for (const OptionChange& b : second)
                if (in_order(a, b) || &first != &second) try_changes({a, b});
    }

    /// Two changes of the first kind and one of the second.
    void try_triples(const std::vector<OptionChange>& first,
                     const std::vector<OptionChange>& second) {
        for (const OptionChange& a : first)
            for (const OptionChange& b : first)
                for (const OptionChange& c : second)
                    if (in_order(a, b) && (in_order(b, c) || &first != &second))
                        try_changes({a, b, c});
    }

    /// Keeps the first value that fits for each combination of options: the nearest.
    void try_changes(const std::vector<OptionChange>& changes) {
        std::vector<const Option*> options;
        TrainingSpec candidate = asked_.training;
        for (const OptionChange& change : changes) {
            options.push_back(change.option);
            change.option->set(candidate, change.value);
        }
        if (found_.size() >= most_ || combinations_.contains(options)) return;
        candidate.micro_batch = std::min(candidate.micro_batch, candidate.batch_of_a_gpu());
        if (before_each_) before_each_();
        const std::optional<Fit> fit = fit_of(asked_, candidate);
        if (!fit || !fit->fits()) return;
        combinations_.insert(options);
        found_.push_back({candidate, fit_of_plan(asked_, candidate, Gaps::fewest)});
    }

    const Asked& asked_;
    const std::size_t most_;
    const std::function<void()>& before_each_;
    std::vector<FittingTraining> found_;
    std::set<std::vector<const Option*>> combinations_;  ///< that were found to fit
};

/// The fit of a step of two such micro-batches if that does not fit: it needs no more memory than
/// one of all, and is planned sooner.
std::optional<Fit> fit_in_parts(const Asked& asked, const TrainingSpec& candidate) {
    TrainingSpec two = candidate;
    two.batch = std::min(candidate.batch, 2 * candidate.micro_batch * candidate.gpus);
    const std::optional<Fit> fit = fit_of(asked, two);
    return fit && !fit->fits() ? fit : fit_of(asked, candidate);
}

/// The largest micro-batch that fits; empty if none fits.
std::optional<TrainingSpec> largest_micro_batch(const Asked& asked, TrainingSpec candidate) {
    const std::int64_t batch = candidate.batch_of_a_gpu();
    for (candidate.micro_batch = batch / 2; candidate.micro_batch >= 1; --candidate.micro_batch) {
        if (batch % candidate.micro_batch != 0) continue;
        const std::optional<Fit> fit = fit_in_parts(asked, candidate);
        if (!fit) return std::nullopt;
        if (fit->fits()) return candidate;
        if (fit->device().shortfall() == 0 && !asked.machine.unified_memory) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

bool fits_machine(const ModelSpec& model, const MachineSpec& machine,
                  const TrainingSpec& training) {
    return fit_of_plan({model, machine, training}, training).fits();
}

TrainingSpec with_layers_off_host(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, bool leave_room) {
    if (!has_option(training.schedule, "resident_layers")) return training;
    TrainingSpec with = training;
    /// Bytes beyond what the host has, or beyond what leaves room; at most 0 if none are.
    const auto missing = [&](std::int64_t layers) {
        with.resident_layers = layers;
        const Fit::OfMemory host = fit_of_plan({model, machine, training}, with).host();
        return static_cast<double>(host.peak.bytes) -
               (leave_room ? host.room() : static_cast<double>(host.usable));
    };
    const auto leaves_enough = [&](std::int64_t layers) {
        with.resident_layers = layers;
        return !home_refusal(model, with);
    };
    std::int64_t too_few = training.resident_layers, enough = model.layer_count();
    while (enough > too_few && !leaves_enough(enough)) --enough;
    if (enough == too_few) return training;
    double at_too_few = missing(too_few);
    if (at_too_few <= 0) return training;
    double at_enough = missing(enough);
    if (at_enough > 0) return training;
    // Along a line, as memory falls almost so; by halves where that takes many steps.
    constexpr int kAlong = 3;
    for (int step = 0; enough - too_few > 1; ++step) {
        const double share = step < kAlong ? at_too_few / (at_too_few - at_enough) : 0.5;
        const auto next =
            static_cast<std::int64_t>(std::ceil(share * static_cast<double>(enough - too_few)));
        const std::int64_t layers = std::clamp(too_few + next, too_few + 1, enough - 1);
        const double bytes = missing(layers);
        if (bytes > 0)
            too_few = layers, at_too_few = bytes;
        else
            enough = layers, at_enough = bytes;
    }
    with.resident_layers = enough;
    return with;
}

std::vector<FittingTraining> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                          const TrainingSpec& training, std::size_t most,
                                          const std::function<void()>& before_each) {
    return Search({model, machine, training}, most, before_each).run();
}

std::optional<TrainingSpec> fitting_training(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& training, bool adjust) {
    check_training_spec(training);
    if (fits_machine(model, machine, training)) return training;
    if (!adjust) return std::nullopt;
    for (const FittingTraining& nearest : nearest_fits(model, machine, training, 1)) {
        const TrainingSpec& t = nearest.training;
        if (t.batch == training.batch && t.sequence == training.sequence &&
            t.state_bytes == training.state_bytes)
            return t;
    }
    return std::nullopt;
}

bool fits_by_token(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    const auto fits = [&](const TrainingSpec& candidate) {
        const std::optional<Fit> fit = fit_of({model, machine, training}, candidate);
        return fit && fit->fits();
    };
    TrainingSpec least = training;
    least.batch = least.gpus;
    least.micro_batch = 0;
    least.passes = 1;
    for (const HomeKind& kind : home_kinds())
        if (kind.most != nullptr) least.*kind.layers = 0;
    least.weight_code_layers = 0;
    least.sequence = training.computes_in_fp8() ? kFp8Terms : 1;
    if (!training.schedule->ours) return fits(least);
    least.saved_inputs = SavedInputs::all;
    least.buffer_depth = least.gradient_slabs = least.host_gradient_slabs = 1;
    for (const ResidentTables tables : {training.resident_tables, ResidentTables::both}) {
        least.resident_tables = tables;
        if (fits(with_layers_off_host(model, machine, least))) return true;
    }
    return false;
}

std::optional<TrainingSpec> whole_batch_that_fits(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training) {
    const Asked asked{model, machine, training};
    if (training.micro_batch != 0) return std::nullopt;
    const std::optional<Fit> at_once = fit_of(asked, training);
    const bool device_is_short = at_once && (at_once->device().shortfall() > 0 ||
                                             (machine.unified_memory && !at_once->fits()));
    if (!device_is_short) return std::nullopt;
    if (const auto cut = largest_micro_batch(asked, training)) return cut;
    if (!has_option(training.schedule, "checkpoints") ||
        training.checkpoints == CheckpointPlacement::host)
        return std::nullopt;
    TrainingSpec on_host = training;
    on_host.checkpoints = CheckpointPlacement::host;
    const std::optional<Fit> fit = fit_of(asked, on_host);
    if (fit && fit->fits()) return on_host;
    return largest_micro_batch(asked, on_host);
}

TrainingSpec least_short(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training, const std::set<std::string>& fixed) {
    const Asked asked{model, machine, training};
    TrainingSpec best = training;
    if (!fixed.contains("micro_batch")) best.micro_batch = 1;
    if (refusal_of(best)) return training;
    const std::optional<Fit> fit = fit_of(asked, best);
    if (!has_option(training.schedule, "checkpoints") || fixed.contains("checkpoints")) return best;
    TrainingSpec on_host = best;
    on_host.checkpoints = CheckpointPlacement::host;
    const std::optional<Fit> host_fit = fit_of(asked, on_host);
    return fit && host_fit && host_fit->shortfall() < fit->shortfall() ? on_host : best;
}

std::vector<TrainingSpec> faster_with_more_memory(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training,
                                                  const std::set<std::string>& fixed) {
    std::vector<TrainingSpec> out;
    if (!training.schedule->ours) return out;
    for (const OptionChange& change :
         changes_of({model, machine, training}, Effect::takes_memory)) {
        if (fixed.contains(change.option->field)) continue;
        TrainingSpec changed = training;
        change.option->set(changed, change.value);
        if (!refusal_of(changed)) out.push_back(changed);
    }
    return out;
}

}  // namespace sluice
