#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"

namespace sluice {
namespace {

/// A change that gains less than this share of the step is not worth its memory.
constexpr double kLeastWorth = 0.001;

using Layers = std::int64_t TrainingSpec::*;

class PlanSearch {
  public:
    PlanSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
               const std::set<std::string>& fixed)
        : model_(model), machine_(machine), asked_(asked), fixed_(fixed) {}

    PlanChoice run() {
        PlanChoice out{asked_, seconds_of(asked_), {}};
        if (!has_option(asked_.schedule, "resident_layers")) return out;
        for (const TrainingSpec& training : passes()) try_layers(training);
        if (best_seconds_ == kNever) return out;
        out.training = best_;
        out.settings = needed_settings(out.training);
        return out;
    }

  private:
    static constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();

    bool is_free(const char* field) const { return !fixed_.contains(field); }

    bool is_valid(const TrainingSpec& training) const {
        try {
            check_training_spec(training);
            check_plan_inputs(model_, machine_, training);
            return true;
        } catch (const InputError&) {
            return false;
        }
    }

    bool fits(const TrainingSpec& training) const {
        return is_valid(training) && fits_machine(model_, machine_, training);
    }

    /// Empty if the training does not fit or breaks a rule.
    std::optional<Seconds> seconds_of(const TrainingSpec& training) const {
        if (!fits(training)) return std::nullopt;
        return predict(model_, machine_, training).step.seconds;
    }

    /// Each of these trainings with each value of the option, if that is free.
    template <typename Value>
    std::vector<TrainingSpec> with_each(const std::vector<TrainingSpec>& trainings,
                                        const char* field, Value TrainingSpec::*member,
                                        const std::vector<Value>& values) const {
        if (!is_free(field)) return trainings;
        std::vector<TrainingSpec> out;
        for (TrainingSpec training : trainings)
            for (const Value value : values) {
                training.*member = value;
                out.push_back(training);
            }
        return out;
    }

    /// Ways to pass the layers: recomputation, number of micro-batches, home of the tables, and
    /// checkpoints on the host only if they do not fit the device.
    std::vector<TrainingSpec> passes() const {
        TrainingSpec start = asked_;
        if (is_free("resident_layers")) start.resident_layers = 0;
        if (is_free("keep_last_layers")) start.keep_last_layers = 0;
        std::vector<std::int64_t> micro_batches = {asked_.micro_batch};
        for (const std::int64_t parts : {2, 4, 8})
            if (asked_.batch % parts == 0) micro_batches.push_back(asked_.batch / parts);
        std::vector<TrainingSpec> out =
            with_each({start}, "recompute", &TrainingSpec::recompute,
                      {Recompute::full, Recompute::keep_attention, Recompute::none});
        out = with_each(out, "micro_batch", &TrainingSpec::micro_batch, micro_batches);
        out = with_each(out, "resident_tables", &TrainingSpec::resident_tables,
                        {ResidentTables::none, ResidentTables::both});
        for (TrainingSpec& training : out) {
            training = with_needed_layers(training);
            if (!is_free("checkpoints") || fits(training)) continue;
            training.checkpoints = CheckpointPlacement::host;
            training = with_needed_layers(training);
        }
        std::erase_if(out, [&](const TrainingSpec& training) { return !fits(training); });
        return out;
    }

    /// With the resident layers without which host memory is short, if their number is free.
    TrainingSpec with_needed_layers(const TrainingSpec& training) const {
        if (!is_free("resident_layers") || !is_valid(training)) return training;
        return with_layers_off_host(model_, machine_, training);
    }

    /// The largest number of layers with which the training fits. It fits with those that it has.
    std::int64_t most_layers(TrainingSpec training, Layers layers) const {
        std::int64_t low = training.*layers, high = model_.layer_count() + 1;
        while (high - low > 1) {
            training.*layers = (low + high) / 2;
            (fits(training) ? low : high) = training.*layers;
        }
        return low;
    }

    /// Resident layers leave less memory for activations, so the fastest number may be between the
    /// least that host memory allows and the largest one. Tries steps of a quarter of the range,
    /// then of an eighth around the best, ...
    void try_layers(TrainingSpec training) {
        if (!is_free("resident_layers")) {
            try_kept_layers(training);
            return;
        }
        const std::int64_t least = training.resident_layers,
                           most = most_layers(training, &TrainingSpec::resident_layers);
        std::map<std::int64_t, Seconds> known;
        const auto seconds_with = [&](std::int64_t layers) {
            const auto [entry, is_new] = known.try_emplace(layers, kNever);
            if (is_new) {
                training.resident_layers = layers;
                entry->second = try_kept_layers(training);
            }
            return entry->second;
        };
        std::int64_t stride = std::max<std::int64_t>(1, (most - least) / 4), best = least;
        const auto try_one = [&](std::int64_t layers) {
            if (layers < least || layers > most) return;
            if (seconds_with(layers) < seconds_with(best)) best = layers;
        };
        for (std::int64_t layers = least; layers < most; layers += stride) try_one(layers);
        try_one(most);
        while (stride > 1) {
            stride = (stride + 1) / 2;
            const std::int64_t middle = best;
            try_one(middle - stride);
            try_one(middle + stride);
        }
    }

    /// Seconds with the largest number of last layers that keep everything for backward.
    Seconds try_kept_layers(TrainingSpec training) {
        if (is_free("keep_last_layers") && training.recompute != Recompute::none)
            training.keep_last_layers = most_layers(training, &TrainingSpec::keep_last_layers);
        const Seconds seconds = seconds_of(training).value_or(kNever);
        if (seconds < best_seconds_) {
            best_ = training;
            best_seconds_ = seconds;
        }
        return seconds;
    }

    /// Takes back each change that is not worth its memory; notes the step time without each of the
    /// others.
    std::vector<ChosenSetting> needed_settings(TrainingSpec& chosen) const {
        std::vector<ChosenSetting> out;
        for (const Option& option : training_options()) {
            if (option.get(chosen) == option.get(asked_)) continue;
            TrainingSpec without = chosen;
            option.set(without, option.get(asked_));
            const std::optional<Seconds> seconds = seconds_of(without);
            if (seconds && *seconds * (1 - kLeastWorth) < best_seconds_) {
                chosen = without;
            } else {
                out.push_back({{option.field, option_text(chosen, option)}, seconds});
            }
        }
        return out;
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    TrainingSpec best_;
    Seconds best_seconds_ = kNever;
};

}  // namespace

PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed).run();
}

}  // namespace sluice
