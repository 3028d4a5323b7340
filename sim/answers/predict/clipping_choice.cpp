// Which plan serves --clipping auto best? The fastest where all steps clip, or one that gives up
// little there and gains where none does; without waiting for the norm only where nothing else
// fits.
#include <algorithm>

#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/step_ahead.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/step_plan.h"

namespace sluice {
namespace {

/// A given recomputation is that of all layers, but for those that another option names.
std::set<std::string> with_layers_that_recompute(std::set<std::string> fixed) {
    if (fixed.contains("recompute"))
        fixed.insert({"keep_last_layers", "host_kept_layers", "keep_attention_layers"});
    return fixed;
}

/// Where all layers keep everything, a number of the last ones says nothing.
PlanChoice without_last_layers(PlanChoice choice, const std::set<std::string>& fixed) {
    TrainingSpec& t = choice.training;
    if (t.recompute == Recompute::none && !fixed.contains("keep_last_layers"))
        t.keep_last_layers = 0;
    return choice;
}

/// A nearby plan that fits, where no mixture of homes does: advice would propose that one. Empty
/// where it differs in what is fixed.
std::optional<TrainingSpec> nearest(const ModelSpec& model, const MachineSpec& machine,
                                    const TrainingSpec& training,
                                    const std::set<std::string>& fixed) {
    if (!training.schedule->ours || !fits_by_token(model, machine, training)) return std::nullopt;
    std::optional<TrainingSpec> out = fitting_training(model, machine, training, true);
    if (out && std::ranges::any_of(changed_settings(training, *out),
                                   [&](const Setting& one) { return fixed.contains(one.field); }))
        out.reset();
    return out;
}

/// The plan of another training says what differs from what was asked.
PlanChoice from_other(PlanChoice found, const TrainingSpec& asked) {
    found.step_as_asked.reset();
    for (const Setting& one : changed_settings(asked, found.training))
        if (std::ranges::none_of(found.settings, [&](const ChosenSetting& known) {
                return known.setting.field == one.field;
            }))
            found.settings.push_back({one, std::nullopt});
    return found;
}

/// No gradients are held for the norm, which takes 2 bytes a parameter less; empty if that may not
/// be chosen.
std::optional<TrainingSpec> with_speculation(const TrainingSpec& training,
                                             const std::set<std::string>& fixed) {
    TrainingSpec out = training;
    out.clipping = Clipping::speculative;
    const bool may = training.schedule->ours && training.clipping == Clipping::automatic &&
                     !fixed.contains("clipping") && !refusal_of(out);
    return may ? std::optional(out) : std::nullopt;
}

PlanChoice choose_with_clipping(const ModelSpec& model, const MachineSpec& machine,
                                const TrainingSpec& training, const std::set<std::string>& fixed,
                                const PriceList& prices, BillBase base) {
    const auto fastest_of = [&](const TrainingSpec& one) {
        return fastest_plan(model, machine, one, fixed, prices, base);
    };
    PlanChoice fastest = fastest_of(training);
    if (!fastest.step)
        if (const auto other = nearest(model, machine, training, fixed))
            if (PlanChoice found = fastest_of(*other); found.step)
                fastest = from_other(std::move(found), training);
    const auto speculative = with_speculation(training, fixed);
    if (fastest.step || !speculative)
        return also_good_ahead(model, machine, training, std::move(fastest), fixed);
    PlanChoice other = fastest_of(*speculative);
    return other.step ? from_other(std::move(other), training) : fastest;
}

}  // namespace

PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& given,
                       const PriceList& prices, BillBase base) {
    check_training_spec(training);
    check_plan_inputs(model, machine, training);
    const std::set<std::string> fixed = with_layers_that_recompute(given);
    return without_last_layers(choose_with_clipping(model, machine, training, fixed, prices, base),
                               fixed);
}

bool may_choose_plan(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, const std::set<std::string>& given,
                     const PriceList& prices) {
    check_training_spec(training);
    check_plan_inputs(model, machine, training);
    const std::set<std::string> fixed = with_layers_that_recompute(given);
    const auto any = [&](const std::optional<TrainingSpec>& one) {
        return one && any_plan_fits(model, machine, *one, fixed, prices);
    };
    return any(training) || any(nearest(model, machine, training, fixed)) ||
           any(with_speculation(training, fixed));
}

}  // namespace sluice
