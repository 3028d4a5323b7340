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

/// From a nearby plan that fits, where no mixture of homes does: advice would propose that one.
PlanChoice from_nearest(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, const std::set<std::string>& fixed,
                        const PriceList& prices, BillBase base, PlanChoice none) {
    if (!training.schedule->ours || !fits_by_token(model, machine, training)) return none;
    const std::optional<TrainingSpec> nearest = fitting_training(model, machine, training, true);
    if (!nearest ||
        std::ranges::any_of(changed_settings(training, *nearest),
                            [&](const Setting& one) { return fixed.contains(one.field); }))
        return none;
    PlanChoice found = fastest_plan(model, machine, *nearest, fixed, prices, base);
    if (!found.step) return none;
    found.step_as_asked.reset();
    for (const Setting& one : changed_settings(training, found.training))
        if (std::ranges::none_of(found.settings, [&](const ChosenSetting& known) {
                return known.setting.field == one.field;
            }))
            found.settings.push_back({one, std::nullopt});
    return found;
}

PlanChoice choose_with_clipping(const ModelSpec& model, const MachineSpec& machine,
                                const TrainingSpec& training, const std::set<std::string>& fixed,
                                const PriceList& prices, BillBase base) {
    PlanChoice fastest = fastest_plan(model, machine, training, fixed, prices, base);
    if (!fastest.step)
        fastest = from_nearest(model, machine, training, fixed, prices, base, std::move(fastest));
    // No gradients are held for the norm, which takes 2 bytes a parameter less.
    TrainingSpec speculative = training;
    speculative.clipping = Clipping::speculative;
    const bool may_speculate = training.schedule->ours &&
                               training.clipping == Clipping::automatic &&
                               !fixed.contains("clipping") && !refusal_of(speculative);
    if (fastest.step || !may_speculate)
        return also_good_ahead(model, machine, training, std::move(fastest), fixed);
    PlanChoice other = fastest_plan(model, machine, speculative, fixed, prices, base);
    if (!other.step) return fastest;
    other.step_as_asked.reset();
    other.settings.push_back(
        {{"clipping", option_text(speculative, training_option("clipping"))}, std::nullopt});
    return other;
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

}  // namespace sluice
