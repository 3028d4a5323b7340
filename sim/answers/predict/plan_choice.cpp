#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <map>
#include <memory>

#include "sim/answers/predict/plan_descent.h"
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
          bill_base_(base),
          amounts_(free_amounts(model, space_)),
          layer_amounts_(amounts_) {
        std::erase_if(layer_amounts_, [](const Amount& one) { return one.layers == nullptr; });
    }

    PlanChoice run() {
        const std::optional<TimedTraining> as_asked = timed(asked_);
        if (as_asked) {
            trials_.set_best({asked_, as_asked->seconds, as_asked->billed});
        }
        if (bill_base_ == BillBase::least_part)
            as_asked ? trials_.bill_beside(trials_.best())
                     : trials_.bill_beside(memory_share(0, asked_, machine_));
        const bool ours = is_ours();
        if (ours && !as_asked &&
            (!fits_by_token(model_, machine_, asked_) || !tightest_mixture_fits()))
            return {asked_, {}, {}, {}};
        for (const bool leave_room : {true, false}) {
            if (!leave_room && trials_.found()) break;
            space_.leave_room(leave_room);
            if (!ours) {
                trials_.try_places(asked_);
                continue;
            }
            try_mixtures(asked_);
            for (const TrainingSpec& tighter : tighter_buffers(asked_, fixed_))
                if (!trials_.found()) try_mixtures(tighter);
        }
        if (!trials_.found()) return {asked_, {}, {}, {}};
        PlanChoice out{trials_.best().training, trials_.best().seconds, {}, {}};
        if (as_asked) out.step_as_asked = as_asked->seconds;
        return with_reasons(std::move(out));
    }

    /// Whether run() finds a plan, without its time.
    bool any() {
        if (!is_ours()) return run().step.has_value();
        if (whole_space_.fitting(asked_)) return true;
        if (bill_base_ == BillBase::least_part)
            trials_.bill_beside(memory_share(0, asked_, machine_));
        if (!fits_by_token(model_, machine_, asked_) || !tightest_mixture_fits()) return false;
        std::vector<TrainingSpec> bases = tighter_buffers(asked_, fixed_);
        bases.insert(bases.begin(), asked_);
        for (const bool leave_room : {true, false}) {
            space_.leave_room(leave_room);
            for (const TrainingSpec& base : bases)
                if (descent_from(base).any()) return true;
        }
        return false;
    }

  private:
    /// A way to cut the batch and to bring weights, and the fastest mixture of homes with it.
    struct Frame {
        MemoryLimits limits;
        Seconds at_least;
        std::shared_ptr<const PlanColumns> columns;
        /// Its base with choices of two that the mixture may take, and the least time with each,
        /// once it is one of the best.
        std::vector<std::pair<TrainingSpec, Seconds>> forms;
    };

    bool is_ours() const { return has_option(asked_.schedule, "resident_layers"); }
    bool is_free(const char* field) const { return space_.is_free(field); }
    bool may_set(const char* field) const { return space_.may_set(field); }

    /// The time of a plan that fits, even without room; empty if it does not.
    std::optional<TimedTraining> timed(const TrainingSpec& training) {
        const std::optional<Planned> one = whole_space_.fitting(training);
        return one ? std::optional(trials_.timed(*one)) : std::nullopt;
    }

    /// With the tightest buffers, or those before, since one slot allows less of other kinds; and
    /// without room. Where none fits, no search finds one, which it takes five times as long to
    /// see.
    bool tightest_mixture_fits() {
        std::vector<TrainingSpec> buffers = tighter_buffers(asked_, fixed_);
        buffers.insert(buffers.begin(), asked_);
        space_.leave_room(false);
        std::vector<Frame> any;
        for (std::size_t i = buffers.size(); i-- > 0 && i + 2 >= buffers.size();)
            for (const TrainingSpec& one : other_forms(buffers[i]))
                if (any.empty()) add_parts(one, any, true);
        return !any.empty();
    }

    void try_mixtures(const TrainingSpec& base) { descent_from(base).run(); }

    PlanDescent descent_from(const TrainingSpec& base) {
        std::vector<Frame> frames;
        for (const TrainingSpec& one : other_forms(base)) add_parts(one, frames);
        frames = best_frames(std::move(frames));
        PlanDescent descent(model_, asked_, space_, trials_);
        const auto add = [&](auto mixture) {
            for (const Frame& frame : frames)
                for (const auto& form : frame.forms)
                    for (const TrainingSpec& one : with_all_resident(form.first))
                        if (const auto columns = columns_of(one))
                            for (const Quiet quiet : {Quiet::little, Quiet::much})
                                if (const auto mix = mixture(*columns, frame.limits, quiet))
                                    descent.add(*mix, columns);
        };
        using Limits = MemoryLimits;
        add([](const PlanColumns& columns, const Limits& limits, Quiet quiet) {
            return columns.fastest(limits, quiet);
        });
        if (!descent.begins())
            add([](const PlanColumns& columns, const Limits& limits, Quiet quiet) {
                return columns.fastest_of_others(limits, quiet);
            });
        return descent;
    }

    /// Nothing free has any amount.
    TrainingSpec lowest(TrainingSpec base) const {
        for (const Amount& amount : amounts_) amount.option->set(base, 0);
        if (is_free("recompute")) base.recompute = Recompute::full;
        return base;
    }
    MemoryLimits limits(const TrainingSpec& base) const {
        const auto most = [&](Tier tier) {
            const Fit::OfMemory of{tier, {}, usable_memory(machine_, base, tier)};
            return space_.leaves_room() ? of.room() : static_cast<double>(of.usable);
        };
        return {most(Tier::device), most(Tier::host)};
    }

    /// The fastest few with as much host memory as there is, and with what takes no larger bill.
    /// The plainest frame is one of them, since more parts promise too much at times.
    /// Forms that are far slower than the best with as much are left out: their columns take 10 to
    /// 20 plans each. Some that are 8% slower there are the fastest in the end; with all layers
    /// resident a form may be far faster than its columns say.
    std::vector<Frame> best_frames(std::vector<Frame> frames) const {
        constexpr int kMostFrames = 4;
        constexpr double kFar = 1.25;
        std::ranges::stable_sort(frames.begin() + std::min<std::ptrdiff_t>(1, std::ssize(frames)),
                                 frames.end(), {}, &Frame::at_least);
        std::map<double, int> of_limit;
        std::erase_if(frames, [&](const Frame& frame) {
            return ++of_limit[frame.limits.host] > kMostFrames;
        });
        std::map<double, Seconds> best;
        for (Frame& frame : frames)
            for (auto& [form, at_least] : frame.forms) {
                // Two choices may fit where the sum of their columns does not.
                const auto with = frame.columns->solve_with(form, frame.limits);
                at_least = with ? with->seconds : frame.at_least;
                Seconds& least = best.try_emplace(frame.limits.host, kNever).first->second;
                least = std::min(least, at_least);
            }
        for (Frame& frame : frames)
            std::erase_if(frame.forms, [&](const auto& form) {
                return form.second > kFar * best.at(frame.limits.host) &&
                       with_all_resident(form.first).size() == 1;
            });
        return frames;
    }

    /// And with all layers resident if they fit: the last layer on the host takes its buffers with
    /// it, which no column tells.
    std::vector<TrainingSpec> with_all_resident(const TrainingSpec& form) const {
        if (!may_set("resident_layers")) return {form};
        TrainingSpec all = form;
        all.resident_layers = model_.layer_count();
        std::optional<Planned> made;
        if (const auto one = space_.bytes(all, made); !one || !one->fits) return {form};
        if (made) space_.lay_out(*made);
        if (made ? !made->fits : !space_.fitting(all)) return {form};
        return {form, all};
    }

    /// With columns of layers alone.
    std::shared_ptr<const PlanColumns> columns_of(const TrainingSpec& base) {
        const auto [known, is_new] = columns_.try_emplace(option_values(base));
        if (is_new)
            known->second = PlanColumns::of(model_, machine_, space_, base, layer_amounts_,
                                            PlanColumns::Detail::exact);
        return known->second;
    }

    /// With the feed-forward in chunks, whose activations take memory that others would use
    /// better, and with weights that arrive in FP8.
    std::vector<TrainingSpec> other_forms(const TrainingSpec& base) const {
        constexpr std::int64_t kFewChunks = 4;
        std::vector<TrainingSpec> out = {base};
        const auto each_with = [&](auto field, auto value) {
            for (std::size_t i = 0, count = out.size(); i < count; ++i)
                out.emplace_back(out[i]).*field = value;
        };
        if (may_set("feed_forward_chunk_tokens") &&
            asked_.micro_batch_block().tokens() > kFewChunks * kFeedForwardChunk)
            each_with(&TrainingSpec::feed_forward_chunk_tokens, kFeedForwardChunk);
        if (may_set("stream_weights") && asked_.compute == Compute::fp8)
            each_with(&TrainingSpec::stream_weights, Compute::fp8);
        return out;
    }

    /// More micro-batches free memory for more layers, more passes too, but they hold the gradients
    /// of all layers: each ends at the first number that gains nothing.
    void add_parts(const TrainingSpec& base, std::vector<Frame>& out, bool only_one = false) {
        Seconds best = kNever;
        const auto enough = [&] { return only_one && !out.empty(); };
        const auto gains = [&](const TrainingSpec& training) {
            const Seconds before = best;
            best = std::min(best, add_frame(training, out));
            return !enough() && (best == kNever || best < before * (1 - kLeastWorth));
        };
        gains(base);
        if (is_free("micro_batch") && base.passes == 1 && !enough())
            for (const std::int64_t parts : {2, 4, 8, 16}) {
                if (parts > 8 && best != kNever) break;  // so many only where fewer do not fit
                TrainingSpec training = base;
                training.micro_batch = base.batch / parts;
                if (base.batch % parts != 0 || !gains(training)) break;
            }
        // Passes keep less than all micro-batches together, and the gradients of all layers beside.
        Seconds fewer_passes = kNever;
        if (is_free("passes") && (best != kNever || !is_free("micro_batch")))
            for (const std::int64_t passes : {2, 4, 8, 16, 32}) {
                TrainingSpec training = base;
                training.passes = passes;
                if (is_free("micro_batch")) training.micro_batch = 0;
                if (passes * model_.layer_count() > kMostLayersPassed || enough()) break;
                const Seconds seconds = add_frame(training, out);
                if (fewer_passes != kNever && seconds > fewer_passes) break;
                fewer_passes = seconds;
            }
    }

    /// Whether the device has room for it with any home of its layers' inputs. Three plans, where
    /// its columns take a dozen.
    bool may_fit(const TrainingSpec& base) const {
        if (machine_.unified_memory) return true;
        TrainingSpec least = base;
        const auto fits = [&] {
            space_.work(least);  // that columns ask for
            std::optional<Planned> made;
            const auto one = space_.bytes(least, made);
            return one && one->spare_bytes >= 0;
        };
        if (fits()) return true;
        if (may_set("checkpoints")) least.checkpoints = CheckpointPlacement::host;
        if (fits()) return true;
        if (may_set("saved_inputs")) least.saved_inputs = SavedInputs::half;
        return fits();
    }

    /// The time of its fastest mixture; kNever if none fits.
    Seconds add_frame(TrainingSpec base, std::vector<Frame>& out) {
        base = lowest(base);
        if (!may_fit(base)) return kNever;
        const auto columns =
            PlanColumns::of(model_, machine_, space_, base, amounts_, PlanColumns::Detail::rough);
        if (!columns) return kNever;
        const MemoryLimits all = limits(base);
        Seconds best = kNever;
        /// Whether a mixture fits.
        const auto add = [&](const MemoryLimits& within) {
            const auto found = columns->solve(within);
            if (!found) return false;
            best = std::min(best, found->seconds);
            // Inputs that are computed again cost less where layers keep attention's output, which
            // no sum of columns tells.
            const bool inputs_leave =
                columns->has(*found, "checkpoints") || columns->has(*found, "saved_inputs");
            std::vector<TrainingSpec> forms = {base};
            for (const Amount& amount : amounts_)
                if (amount.layers == nullptr &&
                    (inputs_leave || amount.option == &training_option("resident_tables")))
                    for (std::size_t i = 0, count = forms.size(); i < count; ++i)
                        amount.option->set(forms.emplace_back(forms[i]), amount.one);
            out.push_back({within, found->seconds, columns, {}});
            for (const TrainingSpec& form : forms) out.back().forms.emplace_back(form, kNever);
            return true;
        };
        add(all);
        // And with the smallest part of the node that is enough.
        for (const double part : trials_.host_parts(base))
            if (part < all.host && add({all.device, part})) break;
        return best;
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
    const std::vector<Amount> amounts_;
    std::vector<Amount> layer_amounts_;
    std::map<std::vector<double>, std::shared_ptr<const PlanColumns>> columns_;  ///< by base
};

}  // namespace

PlanChoice fastest_plan(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, const std::set<std::string>& fixed,
                        const PriceList& prices, BillBase base) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed, prices, base).run();
}

bool any_plan_fits(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   const std::set<std::string>& fixed, const PriceList& prices) {
    check_training_spec(training);
    return PlanSearch(model, machine, training, fixed, prices, BillBase::least_part).any();
}

}  // namespace sluice
