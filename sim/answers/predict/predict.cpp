#include "sim/answers/predict/predict.h"

#include <algorithm>

#include "sim/answers/predict/advice.h"
#include "sim/answers/predict/known_plans.h"
#include "sim/answers/predict/other_rates.h"
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/prediction_band.h"
#include "sim/answers/predict/step_ahead.h"
#include "sim/plan/nearest_fit.h"
#include "sim/simulate/node_share.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/scenario/purchase.h"

namespace sluice {
namespace {

std::vector<Utilization> utilization(const StepProgram& program, const Step& step,
                                     const MachineSpec& machine, const TrainingSpec& training) {
    const std::vector<FlowDemand> demands = operation_demands(program, machine, training);
    double hbm = 0, dram = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Lane lane = program.operations[i].lane;
        const bool copies = is_copy(lane);
        const bool on_device = lane.work == Work::compute || lane.work == Work::interconnect;
        if (on_device || copies) hbm += demands[i].bytes;
        if (!on_device) dram += demands[i].bytes * (copies ? machine.host.copy_weight : 1);
    }
    const Seconds seconds = step.seconds;
    return {
        {Resource::gpu_compute, step.lane(Work::compute).busy / seconds},
        {Resource::hbm, hbm / machine.gpu.memory_bandwidth / seconds},
        {Resource::host_to_device,
         step.lane(Work::host_to_device).bytes / machine.link.host_to_device / seconds},
        {Resource::device_to_host,
         step.lane(Work::device_to_host).bytes / machine.link.device_to_host / seconds},
        {Resource::host_dram, dram / machine.host.dram_bandwidth / seconds},
        {Resource::optimizer_threads,
         std::min(1.0, (step.lane(Work::optimizer).busy + step.lane(Work::host).busy) / seconds)},
    };
}

/// A plan that gains more than kLeastGain, or that fits where the predicted one does not.
std::optional<PlanChoice> faster_plan(const ModelSpec& model, const MachineSpec& machine,
                                      const TimedPlan& than, const std::set<std::string>& fixed,
                                      const PriceList& prices) {
    PlanChoice choice = choose_plan(model, machine, than.asked.training, fixed, prices);
    const bool gains = choice.step && (!choice.step_as_asked ||
                                       *choice.step * (1 + kLeastGain) < *choice.step_as_asked);
    return gains ? std::optional(std::move(choice)) : std::nullopt;
}

/// predict() with a plan; `choice` is how the training was chosen, if it was.
Prediction predict_plan(PlannedStep plan, const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, std::optional<PlanChoice> choice,
                        const Wanted& wanted,
                        const std::function<void(const Prediction&)>& so_far) {
    const auto tell = [&](const Prediction& prediction) {
        if (so_far) so_far(prediction);
    };
    Prediction out;
    out.settings_of = wanted.as_users_run ? SettingsOf::users
                      : choice            ? SettingsOf::planner
                                          : SettingsOf::schedule;
    out.choice = std::move(choice);
    out.asked = asked_step(model, machine, training);
    out.step = predict_step(plan, machine, training);
    out.plan = std::move(plan);
    out.share = node_share(out, machine);
    out.cost = wanted.prices.owned ? std::optional(owned(CostQuery(), out.share))
                                   : typical_rent(wanted.prices, out.share);
    if (wanted.ahead) out.step_ahead = step_ahead(model, machine, training, out.step.seconds);
    tell(out);
    const bool fits = out.plan.fit.fits();
    if (wanted.suggestions && !fits) {
        const std::set<std::string>* const beside = out.choice ? wanted.chosen_beside : nullptr;
        out.advice = find_suggestions(out, model, machine, beside, wanted.prices);
    }
    if (wanted.band == Wanted::Band::always || (wanted.band != Wanted::Band::none && fits))
        out.band = predict_band(out, machine);
    if (wanted.other_rates && training.schedule->ours)
        out.other_rates = at_other_rates(out, machine);
    if (out.band || wanted.suggestions) tell(out);
    if (wanted.faster_beside != nullptr)
        out.faster_plan = faster_plan(model, machine, out, *wanted.faster_beside, wanted.prices);
    if (wanted.remedies) {
        out.advice.remedies = find_remedies(out, machine);
        tell(out);
    }
    return out;
}

}  // namespace

Step predict_step(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training) {
    return step_from(simulate_step(plan, machine, training), plan, machine, training);
}

Step step_from(SimulatedStep simulated, const StepPlan& plan, const MachineSpec& machine,
               const TrainingSpec& training) {
    Step step = step_of(plan.program, std::move(simulated.operations), simulated.step);
    step.first = simulated.first_step;
    step.unsettled = simulated.steady ? 0 : simulated.steps;
    step.utilization = utilization(plan.program, step, machine, training);
    return step;
}

Prediction predict(PlannedStep plan, const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training, const Wanted& wanted,
                   const std::function<void(const Prediction&)>& so_far) {
    return predict_plan(std::move(plan), model, machine, training, {}, wanted, so_far);
}

Prediction predict(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                   const Wanted& wanted, const std::function<void(const Prediction&)>& so_far) {
    check_training_spec(asked);
    const KnownPlans::Scope plans;  // that choices ask for again, such as with more host memory
    std::optional<PlanChoice> choice;
    TrainingSpec training = asked;
    if (wanted.chosen_beside != nullptr && (asked.schedule->ours || !wanted.as_users_run)) {
        choice = choose_plan(model, machine, asked, *wanted.chosen_beside, wanted.prices);
        training = choice->training;
    } else if (wanted.chosen_beside != nullptr) {
        training = as_users_run(asked, *wanted.chosen_beside);
        training = whole_batch_that_fits(model, machine, training).value_or(training);
    }
    return predict_plan(planned_step(plan_step(model, machine, training), machine, training), model,
                        machine, training, std::move(choice), wanted, so_far);
}

}  // namespace sluice
