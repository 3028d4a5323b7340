#include "sim/answers/predict/plan_trials.h"

#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/placement.h"
#include "sim/simulate/node_share.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"

namespace sluice {

namespace {
/// Nearer to the best, exact times lead the search to better numbers of layers.
constexpr double kFarFromBest = 1.01;
}  // namespace

TimedTraining PlanTrials::estimated(const Planned& one, double over_bound) const {
    const Seconds bound =
        step_bounds(one.plan.program, one.demands, machine_, one.training).at_least();
    return {one.training, bound * over_bound, bound * over_bound * least_bill(one)};
}

PlanTrials::Tried PlanTrials::try_beyond(const Planned& one, double over_bound, Seconds than) {
    const TimedTraining estimate = estimated(one, over_bound);
    if (estimate.billed >= than * (1 - kLeastWorth)) return {estimate};
    const Seconds bound = estimate.seconds / over_bound;
    const double bill = estimate.billed / estimate.seconds;
    const TrainingSpec plain = plainest(one.training);
    const Simulated& step = simulated(one, plain, than * kFarFromBest / bill);
    if (!step.to_the_end)
        return {{one.training, step.seconds, step.seconds * bill}, step.seconds / bound};
    const TimedTraining out = {plain, step.seconds, step.seconds * bill_over_base(step.share)};
    if (out.billed < best_.billed) best_ = out;
    return {out, out.seconds / bound};
}

TimedTraining PlanTrials::timed(Planned one) {
    one = space_.timeable(std::move(one));
    const TrainingSpec plain = plainest(one.training);
    const Simulated& step = simulated(one, plain, kNever);
    return {plain, step.seconds, step.seconds * bill_over_base(step.share)};
}

const PlanTrials::Simulated& PlanTrials::simulated(const Planned& one, const TrainingSpec& plainest,
                                                   Seconds worth) {
    const auto [entry, is_new] = simulated_.try_emplace(option_values(plainest));
    Simulated& out = entry->second;
    if (!is_new && (out.to_the_end || out.seconds > worth)) return out;
    SimulatedStep step = quick_step(one.plan.program, one.demands, machine_, one.training, worth);
    out = {step.step, !step.ended_early(), {}};
    if (!out.to_the_end) return out;
    if (machine_.host.gpus > 1) {
        TimedPlan timed;
        timed.asked.training = one.training;
        timed.plan = planned_step(one.plan, machine_, one.training);
        timed.step = step_from(std::move(step), timed.plan, machine_, one.training);
        out.share = node_share(timed, machine_);
    }  // else it pays for the whole node
    return out;
}

void PlanTrials::bill_beside(const TimedTraining& base) {
    std::optional<Planned> one = space_.planned(base.training);
    if (!one) return;
    bill_beside(simulated(space_.timeable(*std::move(one)), plainest(base.training), kNever).share);
}
void PlanTrials::bill_beside(const NodeShare& base) {
    const auto bill = [&](const NodeShare& of) {
        return std::pair(usd_per_hour(of), of.gpus_needed());
    };
    if (!base_ || bill(base) < bill(*base_)) base_ = base;
}

std::vector<double> PlanTrials::host_parts(const TrainingSpec& training) const {
    if (!base_ || prices_.owned || machine_.host.gpus <= 1) return {};
    NodeShare with_cores = *base_;  // for an optimizer on the host
    with_cores.cores =
        std::max(base_->cores, optimizer_threads(machine_, training) / machine_.host.cores);
    const double offered =
        static_cast<double>(machine_.host.node_memory - machine_.host.system_reserve);
    std::vector<double> out;
    for (double gpus = with_cores.gpus_needed(); gpus < machine_.host.gpus; ++gpus)
        out.push_back(offered * gpus / machine_.host.gpus);
    return out;
}

/// The bill for GPUs, host memory and cores alone. With that of GPUs and memory, a choice for 32B
/// on one of eight H200 takes 27 instead of 411 simulations.
double PlanTrials::least_bill(const Planned& one) const {
    if (machine_.host.gpus <= 1) return 1;
    return bill_over_base(
        share_before_step(one.plan.program, one.host_peak, one.training, machine_));
}

/// The price of the typical rent; kNever if none holds the plan.
double PlanTrials::usd_per_hour(const NodeShare& share) const {
    const std::optional<Payment> rent = typical_rent(prices_, share);
    return rent ? rent->usd_per_hour : kNever;
}

double PlanTrials::bill_over_base(const NodeShare& share) const {
    if (!base_ || prices_.owned) return 1;
    const double base = usd_per_hour(*base_), own = usd_per_hour(share);
    // A plan that no offer holds is a plan still.
    const double more =
        base == kNever || own == kNever ? share.gpus_needed() / base_->gpus_needed() : own / base;
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
    if (space_.is_free("recompute") && training.recompute == Recompute::full &&
        training.keep_attention_layers == model_.layer_count()) {
        training.recompute = Recompute::keep_attention;
        training.keep_attention_layers = 0;
    }
    return as_kept(model_, training);
}

namespace {

/// Where a schedule without resident layers keeps tensors, and what it keeps: the training itself
/// stays the same.
struct Place {
    const char* field;
    std::vector<double> values;
};

const std::vector<Place>& places() {
    const auto all = [](const char* field) {
        Place out{field, {}};
        for (const Choice& choice : training_option(field).choices)
            out.values.push_back(choice.value);
        return out;
    };
    static const std::vector<Place> table = {
        all("checkpoints"),
        all("moments"),
        all("offload"),
        {"checkpoint_interval", {1, 2, 4, 8}},
        {"offload_percent", {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}}};
    return table;
}

}  // namespace

void PlanTrials::try_places(const TrainingSpec& asked) {
    std::vector<TrainingSpec> starts = {asked};
    for (const Place& place : places()) {
        const Option& option = training_option(place.field);
        if (!has_option(asked.schedule, option) || !space_.is_free(place.field)) continue;
        for (std::size_t i = 0, before = starts.size(); i < before; ++i)
            for (const double value : place.values) {
                if (value == option.get(asked)) continue;
                option.set(starts.emplace_back(starts[i]), value);
            }
    }
    for (const TrainingSpec& start : starts)
        if (fits_by_token(model_, machine_, start)) try_micro_batches(start);
}

/// PyTorch's checkpointing of a layer keeps its input alone.
std::vector<Recompute> PlanTrials::recomputes(const TrainingSpec& asked) const {
    if (!space_.is_free("recompute") || !has_option(asked.schedule, "recompute"))
        return {asked.recompute};
    if (asked.schedule->keeps_inputs_alone) return {Recompute::full, Recompute::none};
    return {Recompute::full, Recompute::keep_attention, Recompute::none};
}

/// A step of two such micro-batches needs no more memory than one of all, and is planned sooner.
std::optional<Planned> PlanTrials::fitting_in_parts(const TrainingSpec& training) const {
    TrainingSpec two = training;
    two.batch = std::min(training.batch, 2 * training.micro_batch_sequences() * training.gpus);
    if (two.batch < training.batch && !space_.fitting(two)) return std::nullopt;
    return space_.fitting(training);
}

void PlanTrials::try_micro_batches(const TrainingSpec& asked) {
    const bool free_size = space_.is_free("micro_batch");
    const bool keeps_some = has_option(asked.schedule, "keep_last_layers");
    const std::int64_t batch = asked.batch_of_a_gpu();
    std::vector<Recompute> kinds = recomputes(asked);
    for (std::int64_t parts = 1; parts <= batch && !kinds.empty(); ++parts) {
        if (batch % parts != 0) continue;
        const Seconds before = best_.billed;
        bool all_fit = true;
        TrainingSpec start = asked;
        if (free_size) start.micro_batch = parts == 1 ? 0 : batch / parts;
        // A kind that fits and gains nothing gains nothing in more parts, each of which is
        // simulated.
        std::erase_if(kinds, [&](const Recompute kind) {
            const Seconds without = best_.billed;
            start.recompute = kind;
            if (space_.is_free("keep_last_layers")) start.keep_last_layers = 0;
            std::optional<Planned> one = fitting_in_parts(start);
            if (!one) return all_fit = false;
            try_plan(space_.with_kept_layers(*std::move(one)));
            return !keeps_some && best_.billed == without;
        });
        const bool gained = best_.billed != before || before == kNever;
        const bool frees = !all_fit && !keeps_some;
        if (!free_size || (parts > 1 && !gained && !frees)) return;
    }
}

}  // namespace sluice
