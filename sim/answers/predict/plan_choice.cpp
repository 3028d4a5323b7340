#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <map>

#include "sim/answers/predict/nearest_number.h"
#include "sim/answers/predict/plan_trials.h"
#include "sim/answers/predict/tight_buffers.h"
#include "sim/plan/moves.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/sizes.h"
#include "sim/simulate/node_share.h"

namespace sluice {
namespace {

/// A plan of as many layers, each counted once a pass, takes 0.1 s to simulate.
constexpr std::int64_t kMostLayersPassed = 1280;

class PlanSearch {
  public:
    PlanSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
               const std::set<std::string>& fixed, const PriceList& prices, BillBase base)
        : model_(model),
          machine_(machine),
          asked_(asked),
          fixed_(fixed),
          space_(model, machine, asked, fixed),
          whole_space_(space_),
          trials_(model, machine, space_, asked, prices),
          bill_base_(base) {}

    PlanChoice run() {
        const std::optional<TimedTraining> as_asked = timed(asked_);
        if (as_asked) {
            trials_.set_best({asked_, as_asked->seconds, as_asked->billed});
        }
        if (bill_base_ == BillBase::least_part)
            as_asked ? trials_.bill_beside(trials_.best())
                     : trials_.bill_beside(memory_share(0, asked_, machine_));
        const bool ours = has_option(asked_.schedule, "resident_layers");
        if (ours && !as_asked && !fits_by_token(model_, machine_, asked_))
            return {asked_, {}, {}, {}};
        for (const bool leave_room : {true, false}) {
            if (!leave_room && trials_.found()) break;
            space_.leave_room(leave_room);
            if (!ours) {
                trials_.try_places(asked_);
                continue;
            }
            try_chunks();
            for (const TrainingSpec& tighter : tighter_buffers(asked_, fixed_))
                if (!trials_.found()) try_micro_batches(tighter);
            if (!trials_.found()) continue;
            bill_beside_best();
            try_more_host_slabs();
            for (const Found& found : by_time()) try_numbers(found);
            const std::vector<Found> plain = by_time();
            try_host_kept_layers();
            try_arriving_codes();
            for (const Found& one : plain) try_numbers(one, &TrainingSpec::visiting_layers);
            for (const Found& one : by_time()) try_numbers(one, &TrainingSpec::late_moment_layers);
            try_weight_codes();
        }
        if (!trials_.found()) return {asked_, {}, {}, {}};
        PlanChoice out{trials_.best().training, trials_.best().seconds, {}, {}};
        if (as_asked) out.step_as_asked = as_asked->seconds;
        return with_reasons(std::move(out));
    }

  private:
    /// With a number of passes: the fastest that was found, and the training whose ways it is one
    /// of.
    struct Found {
        TimedTraining fastest;
        TrainingSpec base;
    };
    using FoundByPasses = std::map<std::int64_t, Found>;

    bool is_free(const char* field) const { return space_.is_free(field); }
    bool may_set(const char* field) const { return space_.may_set(field); }

    /// The time of a plan that fits, even without room; empty if it does not.
    std::optional<TimedTraining> timed(const TrainingSpec& training) {
        const std::optional<Planned> one = whole_space_.fitting(training);
        return one ? std::optional(trials_.timed(*one)) : std::nullopt;
    }

    /// The parts that are tried from now on may bill more.
    void bill_beside_best() {
        trials_.bill_beside(trials_.best());
        const auto again = [&](const TimedTraining& one) {
            const auto now = one.seconds == kNever ? std::nullopt : timed(one.training);
            return now ? TimedTraining{one.training, now->seconds, now->billed} : one;
        };
        trials_.set_best(again(trials_.best()));
        for (auto& [passes, found] : of_passes_) found.fastest = again(found.fastest);
    }

    /// Activations of a long feed-forward take memory that attention's output would use better.
    void try_chunks() {
        constexpr std::int64_t kFewChunks = 4;
        const auto try_all = [&](const TrainingSpec& base) {
            try_micro_batches(base);
            if (is_free("passes")) try_passes(base);
        };
        try_all(asked_);
        if (!may_set("feed_forward_chunk_tokens") ||
            asked_.micro_batch_block().tokens() <= kFewChunks * kFeedForwardChunk)
            return;
        TrainingSpec in_chunks = asked_;
        in_chunks.feed_forward_chunk_tokens = kFeedForwardChunk;
        try_all(in_chunks);
    }

    /// More slabs on the host hold gradients of layers for which the optimizer is late. Twice as
    /// many cost little: where compute never waits, no bound is below the best step.
    void try_more_host_slabs() {
        const TrainingSpec& best = trials_.best().training;
        constexpr auto kSlabs = &TrainingSpec::host_gradient_slabs;
        if (!may_set("host_gradient_slabs") || best.*kSlabs != asked_.*kSlabs) return;
        TrainingSpec more = asked_;
        more.host_gradient_slabs = 2 * host_gradient_slabs(asked_);
        more.feed_forward_chunk_tokens = best.feed_forward_chunk_tokens;
        more.passes = best.passes;
        try_micro_batches(more);
    }

    /// More micro-batches free memory for more layers: ends at the first number that gains nothing.
    void try_micro_batches(const TrainingSpec& base) {
        const bool one_number = !is_free("micro_batch") || base.passes > 1;
        for (const std::int64_t parts : {1, 2, 4, 8}) {
            if ((one_number && parts > 1) || base.batch % parts != 0) return;
            const Seconds before = trials_.best().billed;
            TrainingSpec start = base;
            if (parts > 1) start.micro_batch = base.batch / parts;
            try_ways(start);
            if (parts > 1 && before != kNever && trials_.best().billed == before) return;
        }
    }

    /// More passes keep less at once, but hold the gradients of all layers: ends at the first
    /// number after two that gains nothing.
    void try_passes(const TrainingSpec& base) {
        for (const std::int64_t passes : {2, 4, 8, 16, 32}) {
            if (passes * model_.layer_count() > kMostLayersPassed) return;
            const Seconds before = trials_.best().billed;
            TrainingSpec start = base;
            start.passes = passes;
            if (is_free("micro_batch")) start.micro_batch = 0;
            try_ways(start);
            if (passes > 2 && before != kNever && trials_.best().billed == before) return;
        }
    }

    /// The fastest numbers of passes first: they leave less for the others to gain.
    std::vector<Found> by_time() const {
        std::vector<Found> out;
        for (const auto& [passes, found] : of_passes_) out.push_back(found);
        std::ranges::stable_sort(out, {}, [](const Found& one) { return one.fastest.billed; });
        return out;
    }

    /// Tries numbers of deferred layers, or with exact clipping of visiting ones or late moments.
    /// Each number of passes has its best, since more passes leave the optimizer more time. All
    /// ways are tried with the first number and the best, those of the first with the others.
    void try_numbers(const Found& from, Layers layers = &TrainingSpec::deferred_layers) {
        if (!space_.may_try(layers)) return;
        TrainingSpec start = from.base;
        std::optional<TrainingSpec> like;
        NearestLayers near;
        start.*layers = nearest_number(model_.layer_count(), from.fastest.billed, [&](auto number) {
            start.*layers = number;
            const TimedTraining found = try_ways(start, like ? &*like : nullptr, &near).fastest;
            if (!like && found.billed != kNever) like = found.training;
            return found.billed;
        });
        if (like && start.*layers > 0) try_ways(start);
    }

    /// Layers that keep on the host need two places on the device, which smaller micro-batches
    /// make smaller.
    void try_host_kept_layers() {
        if (!may_set("host_kept_layers")) return;
        for (const Found& found : by_time()) {
            const TrainingSpec& best = found.fastest.training;
            if (best.passes == 1 && best.recompute != Recompute::none && !best.saves_half())
                try_host_kept_layers(best);
        }
    }
    void try_host_kept_layers(const TrainingSpec& without) {
        TrainingSpec start = without;
        start.deferred_layers = asked_.deferred_layers;
        for (const std::int64_t parts : {1, 2, 4}) {
            const Seconds before = trials_.best().billed;
            const std::int64_t sequences = without.micro_batch_sequences();
            if (parts > 1 && (!is_free("micro_batch") || sequences % parts != 0)) return;
            if (parts > 1) start.micro_batch = sequences / parts;
            const TrainingSpec best = trials_.best().training;
            NearestLayers near;
            nearest_number(model_.layer_count(), kNever, [&](auto layers) {
                start.host_kept_layers = layers;
                return try_ways(start, parts > 1 ? &best : nullptr, &near).fastest.billed;
            });
            if (parts > 1 && trials_.best().billed == before) return;
        }
    }

    /// Codes halve what the link brings; their host memory and the optimizer's time for them count.
    void try_arriving_codes() {
        if (asked_.compute != Compute::fp8 || !may_set("stream_weights")) return;
        const TimedTraining without = trials_.best();
        const FoundByPasses found_without = of_passes_;
        for (const Found& found : by_time()) {
            if (found.fastest.training.resident_layers == model_.layer_count()) continue;
            TrainingSpec arriving = found.base;
            arriving.stream_weights = Compute::fp8;
            arriving.deferred_layers = asked_.deferred_layers;
            try_numbers(try_ways(arriving));
        }
        // Only for more than a prediction may be off.
        if (trials_.best().billed * (1 + kLeastGain) < without.billed) return;
        trials_.set_best(without), of_passes_ = found_without;
    }

    /// Codes of weights that stay for a step take what memory is left, or that of a few layers.
    void try_weight_codes() {
        if (asked_.compute != Compute::fp8 || !is_free("weight_code_layers")) return;
        for (const Found& found : by_time())
            if (found.fastest.billed != kNever) try_weight_codes(found.fastest.training);
    }
    void try_weight_codes(TrainingSpec training) {
        constexpr std::int64_t kFewer = 5;
        const std::int64_t most = training.resident_layers;
        for (std::int64_t less = 0; less <= (is_free("resident_layers") ? kFewer : 0); ++less) {
            training.resident_layers = most - less;
            if (training.resident_layers < 0) return;
            if (std::optional<Planned> one = space_.fitting(training))
                trials_.try_plan(
                    space_.with_most(*std::move(one), &TrainingSpec::weight_code_layers));
        }
    }

    /// The fastest step that was simulated, of all ways or of those like a training's. With `near`,
    /// each way begins at its number of resident layers, and leaves the best there.
    Found try_ways(const TrainingSpec& base, const TrainingSpec* like = nullptr,
                   NearestLayers* near = nullptr) {
        Found found{{base}, base};
        for (const PlanWay& way : space_.ways(base, like)) {
            if (!trials_.could_gain(way.at_least)) continue;
            const TimedTraining fastest = trials_.try_layers(way, near);
            if (fastest.billed < found.fastest.billed) found.fastest = fastest;
        }
        const auto [known, is_new] = of_passes_.try_emplace(base.passes, found);
        if (found.fastest.billed < known->second.fastest.billed) known->second = found;
        return found;
    }

    /// Drops changes not worth their memory; says the step time without each of the others.
    PlanChoice with_reasons(PlanChoice choice) {
        const Option& keep_last_layers = training_option("keep_last_layers");
        for (const Option& option : training_options()) {
            if (option.get(choice.training) == option.get(asked_)) continue;
            TrainingSpec without = choice.training;
            option.set(without, option.get(asked_));
            // The same plan: its last layers keep everything as all others do.
            if (without.recompute == Recompute::none && &option == &keep_last_layers) continue;
            const std::optional<TimedTraining> other = timed(without);
            if (other && other->billed * (1 - kLeastWorth) < trials_.best().billed &&
                space_.fitting(without))
                return with_reasons({without, other->seconds, choice.step_as_asked, {}});
            choice.settings.push_back({{option.field, option_text(choice.training, option)},
                                       other ? std::optional(other->seconds) : std::nullopt});
        }
        return choice;
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& asked_;
    const std::set<std::string>& fixed_;
    PlanSpace space_;
    const PlanSpace whole_space_;  ///< also of plans that leave no room
    PlanTrials trials_;
    const BillBase bill_base_;
    FoundByPasses of_passes_;
};

}  // namespace

PlanChoice fastest_plan(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, const std::set<std::string>& fixed,
                        const PriceList& prices, BillBase base) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed, prices, base).run();
}

}  // namespace sluice
