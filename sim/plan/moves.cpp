#include "sim/plan/moves.h"

#include <algorithm>
#include <string_view>

#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// An option and the values to try, the nearest first.
struct Move {
    const char* field;
    Effect effect;
    std::vector<double> (*values)(const Asked&);
};

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

/// `from` halved down to none.
Values fewer(std::int64_t from) {
    Values out = halvings(from, 0);
    out.push_back(0);
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

/// Numbers of layers that keep everything for backward; each takes the same memory.
std::int64_t most_layers_kept(const Asked& asked) {
    TrainingSpec training = asked.training;
    std::int64_t low = 0, high = asked.model.layer_count() + 1;
    while (high - low > 1) {
        training.keep_last_layers = (low + high) / 2;
        (fits_machine(asked.model, asked.machine, training) ? low : high) =
            training.keep_last_layers;
    }
    return low;
}

bool host_is_short(const Asked& a) {
    return check_fit(plan_memory(a.model, a.machine, a.training), a.machine, a.training)
               .host.shortfall() > 0;
}

constexpr std::int64_t kLossChunk = 1024;  // tokens
constexpr std::int64_t kShortestSequence = 1024, kMostGpus = 1024;

constexpr Move kMoves[] = {
    {"keep_last_layers", Effect::frees_memory, [](const Asked&) { return Values{0}; }},
    {"host_kept_layers", Effect::frees_memory,
     [](const Asked& a) { return fewer(a.training.host_kept_layers); }},
    {"resident_layers", Effect::frees_memory,
     [](const Asked& a) {
         Values out = fewer(a.training.resident_layers);
         out.push_back(
             number(with_layers_off_host(a.model, a.machine, a.training).resident_layers));
         return out;
     }},
    {"deferred_layers", Effect::frees_memory,
     [](const Asked& a) { return fewer(a.training.deferred_layers); }},
    {"visiting_layers", Effect::frees_memory,
     [](const Asked& a) { return fewer(a.training.visiting_layers); }},
    {"weight_code_layers", Effect::frees_memory,
     [](const Asked& a) { return fewer(a.training.weight_code_layers); }},
    {"resident_tables", Effect::frees_memory,
     [](const Asked& a) {
         Values out = only_if(a.training.resident_embedding() && !a.model.tied_embeddings,
                              number(ResidentTables::head));
         out.push_back(number(ResidentTables::none));
         if (host_is_short(a)) out.push_back(number(ResidentTables::both));
         return out;
     }},
    {"recompute", Effect::frees_memory,
     [](const Asked&) { return Values{number(Recompute::full)}; }},
    {"clipping", Effect::frees_memory,
     [](const Asked& a) {
         return only_if(a.training.updates_after_norm(), number(Clipping::speculative));
     }},
    {"passes", Effect::frees_memory,
     [](const Asked& a) { return only_if(a.training.passes > 1, 1); }},
    {"feed_forward_chunk_tokens", Effect::frees_memory,
     [](const Asked& a) {
         const TrainingSpec& t = a.training;
         return only_if(
             t.feed_forward_chunk_tokens == 0 && t.micro_batch_block().tokens() > kFeedForwardChunk,
             kFeedForwardChunk);
     }},
    {"micro_batch", Effect::frees_memory,
     [](const Asked& a) {
         return halvings(a.training.micro_batch_sequences(), a.training.batch_of_a_gpu());
     }},
    {"sharding", Effect::frees_memory, [](const Asked&) { return Values{number(Sharding::full)}; }},
    {"checkpoints", Effect::frees_memory,
     [](const Asked&) {
         return Values{number(CheckpointPlacement::host), number(CheckpointPlacement::device)};
     }},
    {"keep_attention_layers", Effect::frees_memory,
     [](const Asked& a) { return fewer(a.training.keep_attention_layers); }},
    {"saved_inputs", Effect::frees_memory,
     [](const Asked&) { return Values{number(SavedInputs::half)}; }},
    {"loss_chunk_tokens", Effect::frees_memory,
     [](const Asked& a) { return only_if(a.training.loss_chunk_tokens > kLossChunk, kLossChunk); }},
    {"buffer_depth", Effect::frees_memory, [](const Asked&) { return Values{1}; }},
    {"state_bytes", Effect::other_training,
     [](const Asked& a) {
         Values smaller;
         for (const StatePrecision& one : smaller_states(a.training.state_bytes))
             if (one.takes_hidden(a.model.hidden)) smaller.push_back(one.bytes);
         return smaller;
     }},
    {"offload_percent", Effect::other_training,
     [](const Asked& a) {
         return offload_percents(
             static_cast<std::int64_t>(training_option("offload_percent").get(a.training)));
     }},
    {"gpus", Effect::other_training,
     [](const Asked& a) { return doublings(a.training.gpus, kMostGpus); }},
    {"batch", Effect::other_training,
     [](const Asked& a) { return halvings(a.training.batch, a.training.batch); }},
    {"seq", Effect::other_training,  // of any length
     [](const Asked& a) { return halvings(a.training.sequence, 0, kShortestSequence); }},
    {"recompute", Effect::takes_memory,
     [](const Asked&) {
         return Values{number(Recompute::full), number(Recompute::keep_attention),
                       number(Recompute::none)};
     }},
    {"keep_last_layers", Effect::takes_memory,
     [](const Asked& a) {
         const std::int64_t layers = most_layers_kept(a);
         return only_if(layers > 0, number(layers));
     }},
    {"weight_code_layers", Effect::takes_memory,
     [](const Asked& a) {
         return only_if(a.training.compute == Compute::fp8, number(a.model.layer_count()));
     }},
    {"micro_batch", Effect::takes_memory,
     [](const Asked& a) {
         return doublings(a.training.micro_batch_sequences(), a.training.batch);
     }},
};

}  // namespace

std::vector<OptionChange> changes_of(const Asked& asked, Effect effect) {
    std::vector<OptionChange> out;
    for (const Move& move : kMoves) {
        if (move.effect != effect || !has_option(asked.training.schedule, move.field)) continue;
        const Option& option = training_option(move.field);
        for (const double value : move.values(asked))
            if (value != option.get(asked.training)) out.push_back({&option, value});
    }
    return out;
}

}  // namespace sluice
