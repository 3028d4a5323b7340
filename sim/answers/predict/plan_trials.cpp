#include "sim/answers/predict/plan_trials.h"

#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/simulate/node_share.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"

namespace sluice {

PlanTrials::Tried PlanTrials::try_beyond(const Planned& one, double over_bound) {
    const Seconds bound =
        step_bounds(one.plan.program, operation_demands(one.plan.program, machine_, one.training),
                    machine_, one.training)
            .at_least();
    if (!could_gain(bound * over_bound))
        return {{one.training, bound * over_bound, bound * over_bound}};
    TimedTraining out = timed(one);
    if (out.billed < best_.billed) best_ = out;
    return {out, out.seconds / bound};
}

TimedTraining PlanTrials::timed(const Planned& one, const TrainingSpec& plainest) {
    const auto& [seconds, share] = simulated(one, plainest);
    return {plainest, seconds, seconds * bill_over_base(share)};
}

const PlanTrials::Simulated& PlanTrials::simulated(const Planned& one,
                                                   const TrainingSpec& plainest) {
    std::vector<double> values;
    for (const Option& option : training_options()) values.push_back(option.get(plainest));
    const auto [entry, is_new] = simulated_.try_emplace(std::move(values));
    if (!is_new) return entry->second;
    Simulated& out = entry->second;
    if (machine_.host.gpus > 1) {
        TimedPlan timed;
        timed.asked.training = one.training;
        timed.plan = planned_step(one.plan, machine_, one.training);
        timed.step = predict_step(timed.plan, machine_, one.training);
        out = {timed.step.seconds, node_share(timed, machine_)};
    } else {  // pays for the whole node
        out.seconds = simulate_step(one.plan, machine_, one.training).step;
    }
    return out;
}

void PlanTrials::bill_beside(const TimedTraining& base) {
    const std::optional<Planned> one = space_.planned(base.training);
    if (!one) return;
    const NodeShare share = simulated(*one, plainest(base.training)).share;
    const auto bill = [&](const NodeShare& of) {
        return std::pair(usd_per_hour(of), of.gpus_needed());
    };
    if (!base_ || bill(share) < bill(*base_)) base_ = share;
}

/// Of the typical rent; kNever if none holds the plan.
double PlanTrials::usd_per_hour(const NodeShare& share) const {
    const std::optional<Payment> rent = typical_rent(prices_, share);
    return rent ? rent->usd_per_hour : kNever;
}

double PlanTrials::bill_over_base(const NodeShare& share) const {
    if (!base_) return 1;
    const double base = usd_per_hour(*base_);
    const double more =
        base == kNever ? share.gpus_needed() / base_->gpus_needed() : usd_per_hour(share) / base;
    return std::max(1.0, more);
}

/// The same plan by fewer settings.
TrainingSpec PlanTrials::plainest(TrainingSpec training) const {
    if (space_.is_free("feed_forward_chunk_tokens") && !training.micro_batch_block().in_chunks())
        training.feed_forward_chunk_tokens = 0;
    if (space_.is_free("recompute") && space_.is_free("keep_last_layers") &&
        training.keep_last_layers == model_.layer_count() && training.host_kept_layers == 0) {
        training.recompute = Recompute::none;
        training.keep_last_layers = 0;
    }
    return as_kept(model_, training);
}

/// Resident layers leave less memory for activations, so the fastest number may be between the
/// least that host memory allows and the largest one. Tries both, then steps of a quarter of the
/// range, then of an eighth around the best, ... Steps between the two are taken to exceed their
/// bounds by half as much as the nearer of these two does, which saves half of the simulations
/// (70B, batch 8: 70 instead of 132).
TimedTraining PlanTrials::try_layers(const PlanWay& way) {
    TimedTraining fastest;
    const auto try_one = [&](const Planned& one, double over_bound) {
        const Tried tried = try_beyond(one, over_bound);
        if (tried.over_bound != kNever && tried.timed.billed < fastest.billed)
            fastest = {one.training, tried.timed.seconds, tried.timed.billed};
        return tried;
    };
    const Planned& start = way.start;
    const std::int64_t least = start.training.resident_layers;
    const Tried first = try_one(start, 1);
    if (!space_.is_free("resident_layers")) return fastest;
    TrainingSpec training = start.training;
    if (space_.is_free("keep_last_layers")) training.keep_last_layers = 0;
    if (space_.is_free("keep_attention_layers")) training.keep_attention_layers = 0;
    const std::optional<Planned> none_kept = space_.fitting(training);
    if (!none_kept) return fastest;
    Planned with_all = space_.with_most(*none_kept, &TrainingSpec::resident_layers);
    const std::int64_t most = with_all.training.resident_layers;
    const Tried last = try_one(space_.with_kept_layers(std::move(with_all), way.kept), 1);
    const double nearer = std::min(first.over_bound, last.over_bound);
    const double over_bound = nearer == kNever ? 1 : (1 + nearer) / 2;
    std::map<std::int64_t, Seconds> known = {{least, first.timed.billed},
                                             {most, last.timed.billed}};
    std::int64_t best = last.timed.billed < first.timed.billed ? most : least;
    const auto try_number = [&](std::int64_t layers) {
        if (layers < least || layers > most) return;
        const auto [entry, is_new] = known.try_emplace(layers, kNever);
        if (!is_new) return;
        training.resident_layers = layers;
        if (std::optional<Planned> one = space_.fitting(training))
            entry->second = try_one(space_.with_kept_layers(*std::move(one), way.kept), over_bound)
                                .timed.billed;
        if (entry->second < known.at(best)) best = layers;
    };
    std::int64_t stride = std::max<std::int64_t>(1, (most - least) / 4);
    for (std::int64_t layers = least; layers < most; layers += stride) try_number(layers);
    while (stride > 1) {
        stride = (stride + 1) / 2;
        for (const std::int64_t layers : {best - stride, best + stride}) try_number(layers);
    }
    return fastest;
}

void PlanTrials::try_micro_batches_of_gpus(const TrainingSpec& asked) {
    const bool free_size = space_.is_free("micro_batch"), free_kind = space_.is_free("recompute");
    const std::int64_t batch = asked.batch_of_a_gpu();
    for (std::int64_t parts = 1; parts <= batch; ++parts) {
        if (batch % parts != 0) continue;
        const Seconds before = best_.billed;
        TrainingSpec start = asked;
        if (free_size) start.micro_batch = parts == 1 ? 0 : batch / parts;
        for (const Recompute kind : {Recompute::full, Recompute::none}) {
            if (!free_kind && kind != asked.recompute) continue;
            start.recompute = kind;
            if (space_.is_free("keep_last_layers")) start.keep_last_layers = 0;
            if (std::optional<Planned> one = space_.fitting(start))
                try_plan(space_.with_kept_layers(*std::move(one), &TrainingSpec::keep_last_layers));
        }
        if (!free_size || (parts > 1 && before != kNever && best_.billed == before)) return;
    }
}

}  // namespace sluice
