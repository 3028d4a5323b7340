#include "sim/answers/predict/plan_ways.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/waits.h"
#include "sim/simulate/simulation_service.h"
#include "sim/simulate/step_bounds.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

bool PlanSpace::may_set(const char* field) const {
    return is_free(field) && has_option(asked_.schedule, field);
}

bool PlanSpace::may_try(Layers layers) const {
    const bool waits = asked_.updates_after_norm();
    if (layers == &TrainingSpec::deferred_layers) return !waits && may_set("deferred_layers");
    if (layers == &TrainingSpec::visiting_layers) return waits && may_set("visiting_layers");
    return waits && may_set("late_moment_layers") &&
           !state_precision(asked_.state_bytes).has_scales();
}

Planned with_waits(Planned one) {
    derive_waits(one.plan);
    return one;
}

std::optional<Planned> PlanSpace::planned(const TrainingSpec& training) const {
    begin_simulation();  // most plans are bounded only, and a newer question waits for their end
    try {
        check_training_spec(training);
        Planned out{training, plan_memory(model_, machine_, training)};
        const Fit fit = check_fit(out.plan, machine_, training, Gaps::until_it_fits);
        const Fit::OfTier& filled = machine_.unified_memory ? fit.host : fit.device;
        out.fits = leave_room_ ? fit.leaves_room() : fit.fits();
        out.spare_bytes = static_cast<double>(filled.usable - filled.peak.bytes);
        out.host_peak = fit.host.peak.bytes;
        return out;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<Planned> PlanSpace::fitting(const TrainingSpec& training) const {
    std::optional<Planned> out = planned(training);
    return out && out->fits ? out : std::nullopt;
}

/// All of these values of an option where it is free, else what was asked.
template <typename Value>
std::vector<Value> PlanSpace::choices(const char* field, Value TrainingSpec::*member,
                                      std::vector<Value> all) const {
    return is_free(field) ? all : std::vector<Value>{asked_.*member};
}

std::vector<PlanWay> PlanSpace::ways(TrainingSpec start, const TrainingSpec* like) const {
    if (is_free("resident_layers")) start.resident_layers = 0;
    if (is_free("keep_last_layers")) start.keep_last_layers = 0;
    if (is_free("keep_attention_layers")) start.keep_attention_layers = 0;
    if (is_free("checkpoints")) start.checkpoints = CheckpointPlacement::device;
    std::vector<PlanWay> out;
    for (const auto recompute :
         choices("recompute", &TrainingSpec::recompute,
                 {Recompute::full, Recompute::keep_attention, Recompute::none}))
        for (const auto tables : choices("resident_tables", &TrainingSpec::resident_tables,
                                         {ResidentTables::none, ResidentTables::both})) {
            TrainingSpec training = start;
            training.recompute = recompute;
            training.resident_tables = tables;
            if (like && !is_like(training, *like)) continue;
            std::optional<Planned> found = with_home_of_inputs(training);
            if (found && add_ways(*std::move(found), out)) continue;
            if (!is_free("saved_inputs")) continue;
            training.saved_inputs = SavedInputs::half;
            for (const auto place :
                 choices("checkpoints", &TrainingSpec::checkpoints,
                         {CheckpointPlacement::device, CheckpointPlacement::host})) {
                training.checkpoints = place;
                if (found = with_needed_layers(training); found) add_ways(*std::move(found), out);
            }
        }
    std::stable_sort(out.begin(), out.end(),
                     [](const PlanWay& a, const PlanWay& b) { return a.at_least < b.at_least; });
    return out;
}

std::optional<Planned> PlanSpace::with_home_of_inputs(TrainingSpec training) const {
    std::optional<Planned> found = with_needed_layers(training);
    if (found || !is_free("checkpoints")) return found;
    training.checkpoints = CheckpointPlacement::host;
    return with_needed_layers(training);
}

/// Keeps attention's output of some layers where that of all does not fit. Returns whether it fits.
bool PlanSpace::add_ways(Planned one, std::vector<PlanWay>& out) const {
    constexpr Layers kAttention = &TrainingSpec::keep_attention_layers;
    bool all_fit = true;
    if (is_free("keep_attention_layers") && one.training.recompute == Recompute::full) {
        Planned some = with_kept_layers(one, kAttention);
        all_fit = some.training.*kAttention == model_.layer_count();
        if (!all_fit && some.training.*kAttention > 0)
            out.push_back(way_from(std::move(some), kAttention));
    }
    constexpr Layers kAll = &TrainingSpec::keep_last_layers;
    out.push_back(way_from(with_kept_layers(std::move(one), kAll), kAll));
    return all_fit;
}

/// With the resident layers without which host memory is short, if their number is free.
std::optional<Planned> PlanSpace::with_needed_layers(const TrainingSpec& training) const {
    std::optional<Planned> as_it_is = planned(training);
    if (!as_it_is || as_it_is->fits) return as_it_is;
    if (!is_free("resident_layers")) return std::nullopt;
    // They take more of the device, not less.
    if (!machine_.unified_memory && as_it_is->spare_bytes < 0) return std::nullopt;
    return fitting(with_layers_off_host(model_, machine_, training, leave_room_));
}

/// Compute does the least with the fewest resident layers: they leave the most memory for kept
/// ones, and the GPU updates them.
PlanWay PlanSpace::way_from(Planned start, Layers kept) const {
    start = with_waits(std::move(start));
    std::vector<FlowDemand> demands =
        operation_demands(start.plan.program, machine_, start.training);
    const Seconds at_least =
        compute_bound(start.plan.program, std::move(demands), machine_, start.training);
    return {std::move(start), kept, at_least};
}

Planned PlanSpace::with_most(Planned low, Layers layers) const {
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

Planned PlanSpace::with_kept_layers(Planned one, Layers kept) const {
    const bool all = kept == &TrainingSpec::keep_last_layers;
    if (all && (!is_free("keep_last_layers") || one.training.recompute == Recompute::none))
        return one;
    return with_most(std::move(one), kept);
}

}  // namespace sluice
