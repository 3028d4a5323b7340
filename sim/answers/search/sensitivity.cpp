#include "sim/answers/search/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/predict/prediction_band.h"
#include "sim/answers/search/search.h"
#include "sim/answers/search/upgrades.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

/// The profile with these numbers; empty if it accepts none of them.
std::optional<MachineSpec> machine_with(MachineProfile profile, const Numbers& numbers) {
    try {
        for (const auto& [path, value] : numbers) profile.set(path, value);
        return resolve_machine(profile);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Whether the profile with these numbers predicts the step of the changed machine: its rules may
/// change other rates with them.
bool same_step(const ModelSpec& model, const MachineProfile& profile, const Numbers& numbers,
               const Prediction& after) {
    if (numbers.empty()) return false;
    const auto machine = machine_with(profile, numbers);
    if (!machine || !fits_machine(model, *machine, after.asked.training)) return false;
    constexpr double kSame = 0.001;
    const Seconds step = predict(model, *machine, after.asked.training).step.seconds;
    return std::abs(step / after.step.seconds - 1) < kSame;
}

/// Steps before and after a change, with each group of rates moved to its ends.
class GainBand {
  public:
    GainBand(const MachineSpec& machine, const Prediction& base, const MachineChange& candidate,
             const MachineSpec& changed, const Prediction& after)
        : machine_(machine), changed_(changed), candidate_(candidate), base_(base), after_(after) {
        const RateRanges& ranges = machine_.ranges;
        const RateRange kernels = kernels_range(base.plan.program, machine_);
        if (candidate_.replaces_gpu) {
            // Two GPUs, whose errors are independent.
            move_one(kernels, false);
            move_one(kernels_range(after.plan.program, changed_), true);
        } else {
            move_both(kernels, {RateGroup::kernels});
        }
        move_both(ranges.optimizer, {RateGroup::optimizer});
        std::vector<RateGroup> with_memory = {RateGroup::host_memory};
        if (ranges.optimizer_by_memory) with_memory.push_back(RateGroup::optimizer);
        move_both(ranges.host_memory, with_memory);
        move_both(ranges.link, {RateGroup::link});
        move_both(ranges.host_work, {RateGroup::host_work});
    }

    double less() const { return combined(less_); }
    double more() const { return combined(more_); }

  private:
    Seconds before(const MachineSpec& machine) const {
        return quick_step(base_.plan, machine, base_.asked.training).step;
    }
    Seconds after(const MachineSpec& machine) const {
        return quick_step(after_.plan, machine, after_.asked.training).step;
    }

    void add(double gain_at_low, double gain_at_high) {
        const double nominal = base_.step.seconds / after_.step.seconds - 1;
        const auto [least, most] =
            std::minmax({gain_at_low - nominal, gain_at_high - nominal, 0.0});
        less_.push_back(least);
        more_.push_back(most);
    }

    void move_both(const RateRange& range, const std::vector<RateGroup>& groups) {
        const auto gain = [&](double factor) {
            MachineSpec machine = machine_;
            for (const RateGroup group : groups) scale_group(machine, group, factor);
            return before(machine) / after(candidate_.change(machine)) - 1;
        };
        add(gain(range.low), gain(range.high));
    }

    /// Kernels that only one of the two steps has.
    void move_one(const RateRange& range, bool of_after) {
        const auto gain = [&](double factor) {
            MachineSpec machine = of_after ? changed_ : machine_;
            scale_group(machine, RateGroup::kernels, factor);
            return of_after ? base_.step.seconds / after(machine) - 1
                            : before(machine) / after_.step.seconds - 1;
        };
        add(gain(range.low), gain(range.high));
    }

    const MachineSpec &machine_, &changed_;
    const MachineChange& candidate_;
    const Prediction &base_, &after_;
    std::vector<double> less_, more_;
};

/// The prediction with the fastest plan or, where plans are as given, with the fastest of the given
/// settings and faster_with_more_memory(); empty if none fit.
std::optional<Prediction> fastest_nearby(const ModelSpec& model, const MachineSpec& machine,
                                         const TrainingSpec& asked,
                                         const std::set<std::string>& fixed, Plans plans,
                                         const PriceList& prices) {
    if (plans == Plans::chosen) {
        const PlanChoice choice = choose_plan(model, machine, asked, fixed, prices);
        if (!choice.step) return std::nullopt;
        return predict(model, machine, choice.training, {.band = Wanted::Band::always});
    }
    std::vector<TrainingSpec> choices = faster_with_more_memory(model, machine, asked, fixed);
    choices.insert(choices.begin(), asked);
    std::optional<std::pair<TrainingSpec, Seconds>> best;
    for (const TrainingSpec& training : choices) {
        const Fit fit = check_fit(plan_memory(model, machine, training), machine, training);
        if (&training == choices.data() ? !fit.fits() : !fit.leaves_room()) continue;
        const Seconds step = predict(model, machine, training).step.seconds;
        if (!best || step < kWorthChanging * best->second) best = {training, step};
    }
    if (!best) return std::nullopt;
    return predict(model, machine, best->first, {.band = Wanted::Band::always});
}

/// The settings of `base` on the changed machine if they fit and are faster than `found`, since the
/// search of each machine is not complete.
std::optional<Prediction> not_slower(const ModelSpec& model, const MachineSpec& changed,
                                     const TrainingSpec& base, std::optional<Prediction> found) {
    if (found && changed_settings(base, found->asked.training).empty()) return found;
    if (!check_fit(plan_memory(model, changed, base), changed, base).fits()) return found;
    const Seconds step = predict(model, changed, base).step.seconds;
    if (found && step >= found->step.seconds) return found;
    return predict(model, changed, base, {.band = Wanted::Band::always});
}

}  // namespace

Sensitivity sensitivity(const ModelSpec& model, const MachineProfile& profile,
                        const MachineSpec& machine, const TrainingSpec& training,
                        const std::string& gpu, const std::set<std::string>& fixed, Plans plans,
                        const PriceList& prices) {
    std::optional<Prediction> base = fastest_nearby(model, machine, training, fixed, plans, prices);
    Sensitivity out;
    if (!base) {
        out.base = predict(model, machine, training, {.suggestions = true});
        return out;
    }
    out.note = impossible_memory(machine.host);
    MachineChanges tried = machine_changes(machine, profile, gpu);
    out.not_possible = std::move(tried.not_possible);
    for (const MachineChange& candidate : tried.changes) {
        const MachineSpec changed = candidate.change(machine);
        std::optional<Prediction> after =
            not_slower(model, changed, base->asked.training,
                       fastest_nearby(model, changed, training, fixed, plans, prices));
        if (!after) {
            out.not_possible.push_back(candidate.name + ": the step does not fit with it");
            continue;
        }
        Upgrade upgrade;
        upgrade.name = candidate.name;
        if (same_step(model, profile, candidate.numbers, *after))
            for (const auto& [path, value] : candidate.numbers)
                upgrade.machine_settings.push_back({path, fmt::format("{}", value)});
        upgrade.gain = base->step.seconds / after->step.seconds - 1;
        const GainBand band(machine, *base, candidate, changed, *after);
        upgrade.gain_low = upgrade.gain - band.less();
        upgrade.gain_high = upgrade.gain + band.more();
        upgrade.settings = changed_settings(training, after->asked.training);
        upgrade.report = std::move(*after);
        out.upgrades.push_back(std::move(upgrade));
    }
    std::stable_sort(out.upgrades.begin(), out.upgrades.end(),
                     [](const Upgrade& a, const Upgrade& b) { return a.gain > b.gain; });
    out.base_settings = changed_settings(training, base->asked.training);
    out.base = std::move(*base);
    return out;
}

}  // namespace sluice
