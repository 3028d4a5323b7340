// Which plan serves --clipping auto best? The fastest where all steps clip, or one that gives up
// little there and gains where none does; without waiting for the norm only where nothing else
// fits.
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/step_ahead.h"

namespace sluice {

PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed,
                       const PriceList& prices, BillBase base) {
    PlanChoice fastest = fastest_plan(model, machine, training, fixed, prices, base);
    const bool is_free = training.schedule->ours && training.clipping == Clipping::automatic &&
                         !fixed.contains("clipping");
    if (fastest.step || !is_free)
        return also_good_ahead(model, machine, training, std::move(fastest), fixed);
    // No gradients are held for the norm, which takes 2 bytes a parameter less.
    TrainingSpec speculative = training;
    speculative.clipping = Clipping::speculative;
    PlanChoice other = fastest_plan(model, machine, speculative, fixed, prices, base);
    if (!other.step) return fastest;
    other.step_as_asked.reset();
    other.settings.push_back(
        {{"clipping", option_text(speculative, training_option("clipping"))}, std::nullopt});
    return other;
}

}  // namespace sluice
