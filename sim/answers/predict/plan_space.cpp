#include "sim/answers/predict/plan_space.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/waits.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/scenario/option_effect.h"

namespace sluice {

std::vector<double> option_values(const TrainingSpec& training) {
    std::vector<double> out;
    for (const Option& option : training_options()) out.push_back(option.get(training));
    return out;
}

bool PlanSpace::may_set(const char* field) const {
    return is_free(field) && has_option(asked_.schedule, field);
}

bool PlanSpace::may_try(const HomeKind& kind) const {
    if (kind.layers == &TrainingSpec::deferred_layers && asked_.updates_after_norm()) return false;
    TrainingSpec with_one = asked_;
    if (is_free("recompute")) with_one.recompute = Recompute::full;
    with_one.*kind.layers = 1;
    return may_set(kind.field()) && !(kind.rule && kind.rule(with_one));
}

Planned PlanSpace::timeable(Planned one) const {
    derive_waits(one.plan);
    one.demands = demands(one.plan.program, one.training);
    return one;
}

std::optional<StepPlan> PlanSpace::plan(const TrainingSpec& training) const {
    begin_simulation();  // most plans are bounded only, and a newer question waits for their end
    if (!keeps_rules(training)) return std::nullopt;
    try {
        return training.schedule->plan(model_, machine_, training);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<Planned> PlanSpace::planned(const TrainingSpec& training) const {
    std::optional<StepPlan> plan = this->plan(training);
    if (!plan) return std::nullopt;
    Planned out{training, *std::move(plan)};
    set_fit(out, Gaps::none);
    return out;
}

bool PlanSpace::keeps_rules(const TrainingSpec& training) const {
    const auto why = without_effect(model_, training);
    return !(why && fixed_.contains(why->field)) && !refusal_of(model_, machine_, training);
}

KnownPlans::Key PlanSpace::key(const TrainingSpec& training) const {
    KnownPlans::Key out = option_values(training);
    out.push_back(static_cast<double>(machine_.host.process_base));
    return out;
}

std::optional<PlannedBytes> PlanSpace::bytes(const TrainingSpec& training,
                                             std::optional<Planned>& made) const {
    const KnownPlans::Key key = this->key(training);
    if (const auto plan = known_plans_->find(key)) {
        if (!keeps_rules(training)) return std::nullopt;
        Planned peaks;
        peaks.training = training;
        peaks.plan.memory = plan->peaks;
        set_fit(peaks, Gaps::none);
        return PlannedBytes{peaks.fits, peaks.spare_bytes};
    }
    made = planned(training);
    if (!made) return std::nullopt;
    known_plans_->add(key, {peaks_of(made->plan), {}});
    return PlannedBytes{made->fits, made->spare_bytes};
}

const std::optional<StepWork>& PlanSpace::work(const TrainingSpec& training) const {
    const auto [known, is_new] = work_.try_emplace(option_values(training));
    if (!is_new) return known->second;
    const auto work_of = [&](const StepOutline& outline) {
        return step_work(outline, demands(outline.kinds, training), machine_);
    };
    const KnownPlans::Key key = this->key(training);
    if (const auto plan = known_plans_->find(key); plan && plan->outline) {
        if (keeps_rules(training)) known->second = work_of(*plan->outline);
        return known->second;
    }
    std::optional<StepPlan> made = plan(training);
    if (!made) return known->second;
    derive_waits(*made);
    StepOutline outline = step_outline(*made);
    known->second = work_of(outline);
    known_plans_->add(key, {peaks_of(*made), std::move(outline)});
    return known->second;
}

void PlanSpace::lay_out(Planned& one) const {
    if (one.plan.memory.in_one_arena) set_fit(one, Gaps::until_it_fits);
}

void PlanSpace::set_fit(Planned& one, Gaps gaps) const {
    const Fit fit = check_fit(one.plan, machine_, one.training, gaps);
    const Fit::OfMemory& filled = machine_.unified_memory ? fit.host() : fit.device();
    one.fits = leave_room_ ? fit.leaves_room() : fit.fits();
    one.spare_bytes = static_cast<double>(filled.usable - filled.peak.bytes);
    one.host_peak = fit.host().peak.bytes;
}

std::optional<Planned> PlanSpace::fitting(const TrainingSpec& training) const {
    std::optional<Planned> out = planned(training);
    if (out && out->fits) lay_out(*out);
    return out && out->fits ? out : std::nullopt;
}

Planned PlanSpace::with_kept_layers(Planned low) const {
    constexpr Layers layers = &TrainingSpec::keep_last_layers;
    if (!is_free("keep_last_layers") || low.training.recompute == Recompute::none) return low;
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

}  // namespace sluice
