#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/answers/predict/tight_buffers.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"

namespace sluice {
namespace {

/// A change that gains a smaller share of the step is not worth its memory or a simulation.
constexpr double kLeastWorth = 0.001;
using Layers = std::int64_t TrainingSpec::*;

/// A training that keeps the rules, and its plan.
struct Planned {
    TrainingSpec training;
    StepPlan plan;
    bool fits = false;
    double spare_bytes = 0;  ///< of the memory that layers fill; below 0: short
};

class PlanSearch {
  public:
    PlanSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
               const std::set<std::string>& fixed)
        : model_(model), machine_(machine), asked_(asked), fixed_(fixed), best_(asked) {}

    PlanChoice run() {
        const std::optional<Seconds> as_asked = seconds_of(asked_);
        if (as_asked) best_seconds_ = *as_asked;
        for (const bool leave_room : {true, false}) {
            leave_room_ = leave_room;
            if (leave_room || best_seconds_ == kNever) try_host_slabs();
            for (const TrainingSpec& tighter : tighter_buffers(asked_, fixed_))
                if (best_seconds_ == kNever) try_micro_batches(tighter);
        }
        if (best_seconds_ == kNever) return {asked_, {}, {}, {}};
        return with_reasons({best_, best_seconds_, as_asked, {}});
    }

  private:
    static constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();

    /// Recomputation and home of the tables, with the fewest resident and the most kept layers.
    struct Way {
        Planned start;
        Seconds at_least = 0;  ///< with any number of resident layers
    };

    bool is_free(const char* field) const { return !fixed_.contains(field); }
    bool could_gain(Seconds at_least) const { return at_least < best_seconds_ * (1 - kLeastWorth); }

    /// Empty if the training breaks a rule.
    std::optional<Planned> planned(const TrainingSpec& training) const {
        try {
            check_training_spec(training);
            Planned out{training, plan_step(model_, machine_, training)};
            const Fit fit = check_fit(out.plan, machine_, training);
            const Fit::OfTier& filled = machine_.unified_memory ? fit.host : fit.device;
            out.fits = leave_room_ ? fit.leaves_room() : fit.fits();
            out.spare_bytes = static_cast<double>(filled.usable - filled.peak.bytes);
            return out;
        } catch (const InputError&) {
            return std::nullopt;
        }
    }

    std::optional<Planned> fitting(const TrainingSpec& training) const {
        std::optional<Planned> out = planned(training);
        return out && out->fits ? out : std::nullopt;
    }

    std::optional<Seconds> seconds_of(const TrainingSpec& training) const {
        const std::optional<Planned> one = fitting(training);
        return one ? std::optional(simulate_step(one->plan, machine_, training).step)
                   : std::nullopt;
    }

    /// All of these values of an option where it is free, else what was asked.
    template <typename Value>
    std::vector<Value> choices(const char* field, Value TrainingSpec::*member,
                               std::vector<Value> all) const {
        return is_free(field) ? all : std::vector<Value>{asked_.*member};
    }

    /// More slabs on the host hold gradients of layers for which the optimizer is late. Twice as
    /// many cost little: where compute never waits, no bound is below the best step.
    void try_host_slabs() {
        if (!has_option(asked_.schedule, "resident_layers")) return;
        try_micro_batches(asked_);
        if (is_free("passes")) try_passes();
        if (best_seconds_ == kNever || !is_free("host_gradient_slabs")) return;
        TrainingSpec more = asked_;
        more.host_gradient_slabs = 2 * host_gradient_slabs(asked_);
        more.passes = best_.passes;
        try_micro_batches(more);
    }

    /// More micro-batches free memory for more layers: ends at the first number that gains nothing.
    void try_micro_batches(const TrainingSpec& base) {
        if (!is_free("micro_batch") || base.passes > 1) return try_ways(base);
        for (const std::int64_t parts : {1, 2, 4, 8}) {
            if (base.batch % parts != 0) return;
            const Seconds before = best_seconds_;
            TrainingSpec start = base;
            if (parts > 1) start.micro_batch = base.batch / parts;
            try_ways(start);
            if (parts > 1 && before != kNever && best_seconds_ == before) return;
        }
    }

    /// More passes keep less at once, but hold the gradients of all layers: ends at the first
    /// number after two that gains nothing.
    void try_passes() {
        for (const std::int64_t passes : {2, 4, 8, 16}) {
            const Seconds before = best_seconds_;
            TrainingSpec start = asked_;
            start.passes = passes;
            if (is_free("micro_batch")) start.micro_batch = 0;
            if (is_free("checkpoints")) start.checkpoints = CheckpointPlacement::device;
            try_ways(start);
            if (passes > 2 && best_seconds_ == before) return;
        }
    }

    void try_ways(const TrainingSpec& base) {
        for (const Way& way : ways(base))
            if (could_gain(way.at_least)) try_layers(way.start);
    }

    /// Every combination of recomputation and home of the tables that fits, the least compute
    /// first. Checkpoints are on the host only if they do not fit the device.
    std::vector<Way> ways(TrainingSpec start) const {
        if (is_free("resident_layers")) start.resident_layers = 0;
        if (is_free("keep_last_layers")) start.keep_last_layers = 0;
        std::vector<Way> out;
        for (const auto recompute :
             choices("recompute", &TrainingSpec::recompute,
                     {Recompute::full, Recompute::keep_attention, Recompute::none}))
            for (const auto tables : choices("resident_tables", &TrainingSpec::resident_tables,
                                             {ResidentTables::none, ResidentTables::both})) {
                TrainingSpec training = start;
                training.recompute = recompute;
                training.resident_tables = tables;
                std::optional<Planned> found = with_needed_layers(training);
                if (!found && is_free("checkpoints")) {
                    training.checkpoints = CheckpointPlacement::host;
                    found = with_needed_layers(training);
                }
                if (found) out.push_back(way_from(with_kept_layers(*std::move(found))));
            }
        std::stable_sort(out.begin(), out.end(),
                         [](const Way& a, const Way& b) { return a.at_least < b.at_least; });
        return out;
    }

    /// With the resident layers without which host memory is short, if their number is free.
    std::optional<Planned> with_needed_layers(const TrainingSpec& training) const {
        std::optional<Planned> as_it_is = planned(training);
        if (!as_it_is || as_it_is->fits) return as_it_is;
        if (!is_free("resident_layers")) return std::nullopt;
        return fitting(with_layers_off_host(model_, machine_, training, leave_room_));
    }

    /// Compute does the least with the fewest resident layers: they leave the most memory for kept
    /// ones, and the GPU updates them.
    Way way_from(Planned start) const {
        std::vector<FlowDemand> demands =
            operation_demands(start.plan.program, machine_, start.training);
        const Seconds at_least =
            compute_bound(start.plan.program, std::move(demands), machine_, start.training);
        return {std::move(start), at_least};
    }

    /// With the largest number of layers that fits, found along a line, as memory grows almost so.
    Planned with_most(Planned low, Layers layers) const {
        std::int64_t high = model_.layer_count() + 1, next = model_.layer_count();
        double spare_at_high = 0;  // below 0 where it is known
        while (high - low.training.*layers > 1) {
            TrainingSpec training = low.training;
            training.*layers = next;
            if (std::optional<Planned> tried = planned(training); tried && tried->fits) {
                low = *std::move(tried);
            } else {
                high = next;
                spare_at_high = tried ? tried->spare_bytes : 0;
            }
            const std::int64_t from = low.training.*layers;
            const double share =
                spare_at_high < 0 ? low.spare_bytes / (low.spare_bytes - spare_at_high) : 0.5;
            next = from + static_cast<std::int64_t>(share * static_cast<double>(high - from));
            next = std::max(from + 1, std::min(high - 1, next));
        }
        return low;
    }

    /// With the largest number of last layers that keep everything for backward, if that is free.
    Planned with_kept_layers(Planned one) const {
        if (!is_free("keep_last_layers") || one.training.recompute == Recompute::none) return one;
        return with_most(std::move(one), &TrainingSpec::keep_last_layers);
    }

    /// Resident layers leave less memory for activations, so the fastest number may be between the
    /// least that host memory allows and the largest one. Tries both, then steps of a quarter of
    /// the range, then of an eighth around the best, ... Steps between the two are taken to exceed
    /// their bounds by half as much as the nearer of these two does, which saves half of the
    /// simulations (70B, batch 8: 70 instead of 132).
    void try_layers(const Planned& start) {
        over_bound_ = 1;
        const std::int64_t least = start.training.resident_layers;
        const Tried first = try_plan(start);
        if (!is_free("resident_layers")) return;
        TrainingSpec training = start.training;
        if (is_free("keep_last_layers")) training.keep_last_layers = 0;
        const std::optional<Planned> none_kept = fitting(training);
        if (!none_kept) return;
        Planned with_all = with_most(*none_kept, &TrainingSpec::resident_layers);
        const std::int64_t most = with_all.training.resident_layers;
        const Tried last = try_plan(with_kept_layers(std::move(with_all)));
        over_bound_ = (1 + std::min(first.over_bound, last.over_bound)) / 2;
        if (over_bound_ == kNever) over_bound_ = 1;
        std::map<std::int64_t, Seconds> known = {{least, first.seconds}, {most, last.seconds}};
        std::int64_t best = last.seconds < first.seconds ? most : least;
        const auto try_one = [&](std::int64_t layers) {
            if (layers < least || layers > most) return;
            const auto [entry, is_new] = known.try_emplace(layers, kNever);
            if (!is_new) return;
            training.resident_layers = layers;
            if (std::optional<Planned> one = fitting(training))
                entry->second = try_plan(with_kept_layers(*std::move(one))).seconds;
            if (entry->second < known.at(best)) best = layers;
        };
        std::int64_t stride = std::max<std::int64_t>(1, (most - least) / 4);
        for (std::int64_t layers = least; layers < most; layers += stride) try_one(layers);
        while (stride > 1) {
            stride = (stride + 1) / 2;
            for (const std::int64_t layers : {best - stride, best + stride}) try_one(layers);
        }
    }

    struct Tried {
        Seconds seconds = 0;  ///< the bound times over_bound_ where the plan cannot be the best
        double over_bound = kNever;  ///< factor on the bound, where it is simulated
    };
    Tried try_plan(const Planned& one) {
        const Seconds bound =
            step_bounds(one.plan.program,
                        operation_demands(one.plan.program, machine_, one.training), machine_,
                        one.training)
                .at_least();
        if (!could_gain(bound * over_bound_)) return {bound * over_bound_};
        const Seconds seconds = simulate_step(one.plan, machine_, one.training).step;
        if (seconds < best_seconds_) {
            best_ = one.training;
            best_seconds_ = seconds;
        }
        return {seconds, seconds / bound};
    }

    /// Drops changes not worth their memory; says the step time without each of the others.
    PlanChoice with_reasons(PlanChoice choice) const {
        for (const Option& option : training_options()) {
            if (option.get(choice.training) == option.get(asked_)) continue;
            TrainingSpec without = choice.training;
            option.set(without, option.get(asked_));
            const std::optional<Seconds> seconds = seconds_of(without);
            if (seconds && *seconds * (1 - kLeastWorth) < best_seconds_)
                return with_reasons({without, seconds, choice.step_as_asked, {}});
            choice.settings.push_back(
                {{option.field, option_text(choice.training, option)}, seconds});
        }
        return choice;
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    TrainingSpec best_;
    Seconds best_seconds_ = kNever;
    bool leave_room_ = false;  ///< in plans that fit
    double over_bound_ = 1;    ///< factor on bounds by which steps are taken to exceed them
};

}  // namespace

PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed).run();
}

}  // namespace sluice
