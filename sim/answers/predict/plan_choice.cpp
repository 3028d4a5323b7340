#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/answers/predict/plan_ways.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/predict/tight_buffers.h"
#include "sim/plan/moves.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/simulate/node_share.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"

namespace sluice {
namespace {

/// A change that gains a smaller share of the step is not worth its memory or a simulation.
constexpr double kLeastWorth = 0.001;
/// Gradients of deferred updates take host memory, which a rent counts in whole GPUs of the node.
/// Chosen, not measured: one more of them for a smaller share of the step makes tokens dearer.
constexpr double kLeastWorthOfGpu = 0.05;

class PlanSearch {
  public:
    PlanSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
               const std::set<std::string>& fixed)
        : model_(model),
          machine_(machine),
          asked_(asked),
          fixed_(fixed),
          space_(model, machine, asked, fixed),
          base_(asked),
          best_(asked) {}

    PlanChoice run() {
        const std::optional<Seconds> as_asked = seconds_of(asked_);
        if (as_asked) best_seconds_ = *as_asked;
        for (const bool leave_room : {true, false}) {
            if (!leave_room && best_seconds_ != kNever) break;
            space_.leave_room(leave_room);
            try_chunks();
            for (const TrainingSpec& tighter : tighter_buffers(asked_, fixed_))
                if (best_seconds_ == kNever) try_micro_batches(tighter);
            try_deferred_layers();
            try_weight_codes();
        }
        if (best_seconds_ == kNever) return {asked_, {}, {}, {}};
        space_.leave_room(false);
        return with_reasons({best_, best_seconds_, as_asked, {}});
    }

  private:
    static constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();

    bool is_free(const char* field) const { return space_.is_free(field); }
    bool could_gain(Seconds at_least) const { return at_least < best_seconds_ * (1 - kLeastWorth); }

    std::optional<Seconds> seconds_of(const TrainingSpec& training) const {
        const std::optional<Planned> one = space_.fitting(training);
        if (!one) return std::nullopt;
        return simulate_step(one->plan, machine_, training).step;
    }

    /// Activations of a long feed-forward take memory that attention's output would use better.
    void try_chunks() {
        base_ = asked_;
        try_host_slabs();
        constexpr std::int64_t kFewChunks = 4;
        if (!is_free("feed_forward_chunk_tokens") ||
            !has_option(asked_.schedule, "feed_forward_chunk_tokens") ||
            asked_.micro_batch_block().tokens() <= kFewChunks * kFeedForwardChunk)
            return;
        base_.feed_forward_chunk_tokens = kFeedForwardChunk;
        try_host_slabs();
    }

    /// More slabs on the host hold gradients of layers for which the optimizer is late. Twice as
    /// many cost little: where compute never waits, no bound is below the best step.
    void try_host_slabs() {
        if (!has_option(base_.schedule, "resident_layers")) return;
        try_micro_batches(base_);
        if (is_free("passes")) try_passes();
        if (best_seconds_ == kNever || !is_free("host_gradient_slabs")) return;
        TrainingSpec more = base_;
        more.host_gradient_slabs = 2 * host_gradient_slabs(base_);
        more.passes = best_.passes;
        try_micro_batches(more);
    }

    /// More micro-batches free memory for more layers: ends at the first number that gains nothing.
    void try_micro_batches(const TrainingSpec& base) {
        if (!is_free("micro_batch") || base.passes > 1) return try_ways(base);
        for (const std::int64_t parts : {1, 2, 4, 8}) {
            if (base.batch % parts != 0) return;
            const Seconds before = best_seconds_;
            TrainingSpec start = base;
            if (parts > 1) start.micro_batch = base.batch / parts;
            try_ways(start);
            if (parts > 1 && before != kNever && best_seconds_ == before) return;
        }
    }

    /// More passes keep less at once, but hold the gradients of all layers: ends at the first
    /// number after two that gains nothing.
    void try_passes() {
        for (const std::int64_t passes : {2, 4, 8, 16}) {
            const Seconds before = best_seconds_;
            TrainingSpec start = base_;
            start.passes = passes;
            if (is_free("micro_batch")) start.micro_batch = 0;
            if (is_free("checkpoints")) start.checkpoints = CheckpointPlacement::device;
            try_ways(start);
            if (passes > 2 && best_seconds_ == before) return;
        }
    }

    /// Deferred updates give the optimizer work during forward; too many keep forward waiting. In
    /// steps of an eighth of the layers up to the first that gains nothing, then nearer to the
    /// best.
    void try_deferred_layers() {
        if (best_seconds_ == kNever || !is_free("deferred_layers") ||
            !has_option(asked_.schedule, "deferred_layers"))
            return;
        const TrainingSpec without = best_;
        const Seconds seconds_without = best_seconds_;
        TrainingSpec start = asked_;
        for (const char* field :
             {"passes", "micro_batch", "host_gradient_slabs", "feed_forward_chunk_tokens"})
            training_option(field).set(start, training_option(field).get(best_));
        const auto gains = [&](std::int64_t deferred) {
            const Seconds before = best_seconds_;
            start.deferred_layers = deferred;
            if (deferred > 0 && deferred <= model_.layer_count()) try_ways(start);
            return best_seconds_ < before;
        };
        std::int64_t stride = std::max<std::int64_t>(1, model_.layer_count() / 8),
                     deferred = stride;
        while (gains(deferred)) deferred += stride;
        while (stride > 1) {
            stride = (stride + 1) / 2;
            const std::int64_t best = best_.deferred_layers;
            if (!gains(best - stride)) gains(best + stride);
        }
        if (best_seconds_ == seconds_without ||
            best_seconds_ < seconds_without * (1 - kLeastWorthOfGpu) ||
            gpus_of_node(best_) <= gpus_of_node(without))
            return;
        best_ = without;
        best_seconds_ = seconds_without;
    }

    /// Codes of weights that stay for a step take what memory is left, or that of a few layers.
    void try_weight_codes() {
        if (best_seconds_ == kNever || best_.compute != Compute::fp8 ||
            !is_free("weight_code_layers"))
            return;
        constexpr std::int64_t kFewer = 5;
        TrainingSpec training = best_;
        const std::int64_t most = best_.resident_layers;
        for (std::int64_t less = 0; less <= (is_free("resident_layers") ? kFewer : 0); ++less) {
            training.resident_layers = most - less;
            if (training.resident_layers < 0) return;
            if (std::optional<Planned> one = space_.fitting(training))
                try_plan(space_.with_most(*std::move(one), &TrainingSpec::weight_code_layers));
        }
    }

    /// That the plan takes by its largest share.
    double gpus_of_node(const TrainingSpec& training) const {
        TimedPlan timed;
        timed.asked = asked_step(model_, machine_, training);
        timed.plan = planned_step(plan_step(model_, machine_, training), machine_, training);
        timed.step = predict_step(timed.plan, machine_, training);
        return node_share(timed, machine_).gpus_needed();
    }

    void try_ways(const TrainingSpec& base) {
        for (const PlanWay& way : space_.ways(base))
            if (could_gain(way.at_least)) try_layers(way);
    }

    /// Resident layers leave less memory for activations, so the fastest number may be between the
    /// least that host memory allows and the largest one. Tries both, then steps of a quarter of
    /// the range, then of an eighth around the best, ... Steps between the two are taken to exceed
    /// their bounds by half as much as the nearer of these two does, which saves half of the
    /// simulations (70B, batch 8: 70 instead of 132).
    void try_layers(const PlanWay& way) {
        over_bound_ = 1;
        const Planned& start = way.start;
        const std::int64_t least = start.training.resident_layers;
        const Tried first = try_plan(start);
        if (!is_free("resident_layers")) return;
        TrainingSpec training = start.training;
        if (is_free("keep_last_layers")) training.keep_last_layers = 0;
        if (is_free("keep_attention_layers")) training.keep_attention_layers = 0;
        const std::optional<Planned> none_kept = space_.fitting(training);
        if (!none_kept) return;
        Planned with_all = space_.with_most(*none_kept, &TrainingSpec::resident_layers);
        const std::int64_t most = with_all.training.resident_layers;
        const Tried last = try_plan(space_.with_kept_layers(std::move(with_all), way.kept));
        over_bound_ = (1 + std::min(first.over_bound, last.over_bound)) / 2;
        if (over_bound_ == kNever) over_bound_ = 1;
        std::map<std::int64_t, Seconds> known = {{least, first.seconds}, {most, last.seconds}};
        std::int64_t best = last.seconds < first.seconds ? most : least;
        const auto try_one = [&](std::int64_t layers) {
            if (layers < least || layers > most) return;
            const auto [entry, is_new] = known.try_emplace(layers, kNever);
            if (!is_new) return;
            training.resident_layers = layers;
            if (std::optional<Planned> one = space_.fitting(training))
                entry->second =
                    try_plan(space_.with_kept_layers(*std::move(one), way.kept)).seconds;
            if (entry->second < known.at(best)) best = layers;
        };
        std::int64_t stride = std::max<std::int64_t>(1, (most - least) / 4);
        for (std::int64_t layers = least; layers < most; layers += stride) try_one(layers);
        while (stride > 1) {
            stride = (stride + 1) / 2;
            for (const std::int64_t layers : {best - stride, best + stride}) try_one(layers);
        }
    }

    struct Tried {
        Seconds seconds = 0;  ///< the bound times over_bound_ where the plan cannot be the best
        double over_bound = kNever;  ///< factor on the bound, where it is simulated
    };
    Tried try_plan(const Planned& one) {
        const Seconds bound =
            step_bounds(one.plan.program,
                        operation_demands(one.plan.program, machine_, one.training), machine_,
                        one.training)
                .at_least();
        if (!could_gain(bound * over_bound_)) return {bound * over_bound_};
        const Seconds seconds = simulate_step(one.plan, machine_, one.training).step;
        if (seconds < best_seconds_) {
            best_ = one.training;
            best_seconds_ = seconds;
        }
        return {seconds, seconds / bound};
    }

    /// Drops changes not worth their memory; says the step time without each of the others.
    PlanChoice with_reasons(PlanChoice choice) const {
        for (const Option& option : training_options()) {
            if (option.get(choice.training) == option.get(asked_)) continue;
            TrainingSpec without = choice.training;
            option.set(without, option.get(asked_));
            const std::optional<Seconds> seconds = seconds_of(without);
            if (seconds && *seconds * (1 - kLeastWorth) < best_seconds_)
                return with_reasons({without, seconds, choice.step_as_asked, {}});
            choice.settings.push_back(
                {{option.field, option_text(choice.training, option)}, seconds});
        }
        return choice;
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    PlanSpace space_;
    TrainingSpec base_;  ///< as asked, or with a feed-forward in chunks
    TrainingSpec best_;
    Seconds best_seconds_ = kNever;
    double over_bound_ = 1;  ///< factor on bounds by which steps are taken to exceed them
};

}  // namespace

PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed).run();
}

}  // namespace sluice
