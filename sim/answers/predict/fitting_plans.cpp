#include "sim/answers/predict/fitting_plans.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"

namespace sluice {

std::optional<Planned> FittingPlans::planned(const TrainingSpec& training) const {
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

std::optional<Planned> FittingPlans::fitting(const TrainingSpec& training) const {
    std::optional<Planned> out = planned(training);
    return out && out->fits ? out : std::nullopt;
}

Planned FittingPlans::with_most(Planned low, Layers layers) const {
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
