#include "sim/plan/moves.h"

#include <algorithm>
#include <string_view>

#include "sim/plan/homes/home_kind.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

using Values = std::vector<double>;

double number(auto value) { return static_cast<double>(value); }

Values only_if(bool when, double value) { return when ? Values{value} : Values{}; }

/// `from` halved down to `least`; only values that divide `whole`.
Values halvings(std::int64_t from, std::int64_t whole, std::int64_t least = 1) {
    Values out;
    for (std::int64_t value = from / 2; value >= least; value /= 2)
        if (whole % value == 0) out.push_back(number(value));
    return out;
}

Values doublings(std::int64_t from, std::int64_t most) {
    Values out;
    for (std::int64_t value = 2 * from; value <= most; value *= 2) out.push_back(number(value));
    return out;
}

/// Larger states on the host if the device is short, smaller ones if the host is; the nearest
/// first.
Values offload_percents(std::int64_t from) {
    Values out;
    for (std::int64_t step = 10; step < 100 + 10; step += 10) {
        out.push_back(number(std::min<std::int64_t>(from + step, 100)));
        out.push_back(number(std::max<std::int64_t>(from - step, 0)));
    }
    return out;
}

constexpr std::int64_t kLossChunk = 1024;  // tokens
constexpr std::int64_t kShortestSequence = 1024, kMostGpus = 1024;

/// Those of options that are no homes.
constexpr ValuesToTry kMoves[] = {
    {"recompute", "", [](const Asked&) { return Values{number(Recompute::full)}; }},
    {"clipping", "",
     [](const Asked& a) {
         return only_if(a.training.updates_after_norm(), number(Clipping::speculative));
     }},
    {"passes", "", [](const Asked& a) { return only_if(a.training.passes > 1, 1); }},
    {"feed_forward_chunk_tokens", "",
     [](const Asked& a) {
         const TrainingSpec& t = a.training;
         return only_if(
             t.feed_forward_chunk_tokens == 0 && t.micro_batch_block().tokens() > kFeedForwardChunk,
             kFeedForwardChunk);
     }},
    {"micro_batch", "",
     [](const Asked& a) {
         return halvings(a.training.micro_batch_sequences(), a.training.batch_of_a_gpu());
     }},
    {"sharding", "", [](const Asked&) { return Values{number(Sharding::full)}; }},
    {"checkpoints", "",
     [](const Asked&) {
         return Values{number(CheckpointPlacement::host), number(CheckpointPlacement::device)};
     }},
    {"loss_chunk_tokens", "",
     [](const Asked& a) { return only_if(a.training.loss_chunk_tokens > kLossChunk, kLossChunk); }},
    {"buffer_depth", "", [](const Asked&) { return Values{1}; }},
    {"state_bytes", "",
     [](const Asked& a) {
         Values smaller;
         for (const StatePrecision& one : smaller_states(a.training.state_bytes))
             if (one.takes_hidden(a.model.hidden)) smaller.push_back(one.bytes);
         return smaller;
     },
     Effect::other_training},
    {"offload_percent", "",
     [](const Asked& a) {
         return offload_percents(
             static_cast<std::int64_t>(training_option("offload_percent").get(a.training)));
     },
     Effect::other_training},
    {"gpus", "", [](const Asked& a) { return doublings(a.training.gpus, kMostGpus); },
     Effect::other_training},
    {"batch", "", [](const Asked& a) { return halvings(a.training.batch, a.training.batch); },
     Effect::other_training},
    {"seq", "",  // of any length
     [](const Asked& a) { return halvings(a.training.sequence, 0, kShortestSequence); },
     Effect::other_training},
    {"recompute", "",
     [](const Asked&) {
         return Values{number(Recompute::full), number(Recompute::keep_attention),
                       number(Recompute::none)};
     },
     Effect::takes_memory},
    {"micro_batch", "",
     [](const Asked& a) { return doublings(a.training.micro_batch_sequences(), a.training.batch); },
     Effect::takes_memory},
};

std::vector<ValuesToTry> all_moves() {
    std::vector<ValuesToTry> out(std::begin(kMoves), std::end(kMoves));
    for (const HomeKind& kind : home_kinds())
        for (const ValuesToTry& move : kind.moves) {
            const auto next = std::ranges::find_if(out, [&](const ValuesToTry& one) {
                return one.effect == move.effect && one.field == std::string_view(move.before);
            });
            out.insert(next, move);
        }
    return out;
}

}  // namespace

Values fewer(std::int64_t from) {
    Values out = halvings(from, 0);
    out.push_back(0);
    return out;
}

std::vector<OptionChange> changes_of(const Asked& asked, Effect effect) {
    static const std::vector<ValuesToTry> kAll = all_moves();
    std::vector<OptionChange> out;
    for (const ValuesToTry& move : kAll) {
        if (move.effect != effect || !has_option(asked.training.schedule, move.field)) continue;
        const Option& option = training_option(move.field);
        const double now = option.get(asked.training);
        for (const double value :
             move.values ? move.values(asked) : fewer(static_cast<std::int64_t>(now)))
            if (value != now) out.push_back({&option, value});
    }
    return out;
}

}  // namespace sluice
