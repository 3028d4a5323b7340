#include "sim/specs/scenario/option_effect.h"

#include <algorithm>

#include "sim/specs/scenario/refused.h"

namespace sluice {
namespace {

/// A layer keeps tensors for backward in one way.
std::optional<Refusal> kept_layers_effect(const ModelSpec& model, const TrainingSpec& t) {
    const std::int64_t left = model.layer_count() - t.keep_last_layers;
    if (t.keep_last_layers > 0 && t.recompute == Recompute::none)
        return refused(
            t, "keep_last_layers",
            " with --recompute none, by which all layers keep everything; leave one out");
    if (left >= 0 && t.host_kept_layers > left)
        return refused(t, "host_kept_layers",
                       ", expected at most the {} layers that --keep-last-layers {} leaves", left,
                       t.keep_last_layers);
    if (t.keep_attention_layers > 0 && t.keep_attention_layers <= t.keep_last_layers)
        return refused(t, "keep_attention_layers",
                       ", expected more than --keep-last-layers {}, whose layers keep attention's "
                       "output, too; leave one out",
                       t.keep_last_layers);
    return std::nullopt;
}

std::optional<Refusal> streamed_weights_effect(const ModelSpec& model, const TrainingSpec& t) {
    if (!t.streams_codes() || t.resident_layers != model.layer_count()) return std::nullopt;
    return refused(t, "stream_weights",
                   " with all {} layers resident, whose weights are not copied; leave it out",
                   t.resident_layers);
}

/// More than there are mean no more than all of them; so may the default.
std::optional<Refusal> tokens_effect(const TrainingSpec& t) {
    static const TrainingSpec kStandard;
    const std::int64_t tokens = t.batch_of_a_gpu() * t.sequence;
    for (const char* const field : {"feed_forward_chunk_tokens", "loss_chunk_tokens"}) {
        const Option& option = training_option(field);
        const double most = std::max(static_cast<double>(tokens), option.get(kStandard));
        if (has_option(t.schedule, option) && option.get(t) > most)
            return refused(t, field, ", expected at most the {} tokens {}", tokens,
                           t.gpus == 1 ? "of a batch" : "of a GPU's part of a batch");
    }
    if (t.distinct_tokens > t.tokens())
        return refused(t, "distinct_tokens", ", expected at most the {} tokens of a batch",
                       t.tokens());
    return std::nullopt;
}

/// Each layer has one at a time. Numbers over which a sweep varies are no mistake of a small model.
std::optional<Refusal> places_effect(const ModelSpec& model, const TrainingSpec& t) {
    for (const char* const field : {"buffer_depth", "gradient_slabs", "host_gradient_slabs"}) {
        const Option& option = training_option(field);
        const double most = std::max(static_cast<double>(model.layer_count()),
                                     *std::ranges::max_element(option.proposals));
        if (has_option(t.schedule, option) && option.get(t) > most)
            return refused(t, field, ", expected at most {:.0f}: the model has {} layers", most,
                           model.layer_count());
    }
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> without_effect(const ModelSpec& model, const TrainingSpec& training) {
    for (const auto rule : {kept_layers_effect, streamed_weights_effect, places_effect})
        if (std::optional<Refusal> why = rule(model, training)) return why;
    return tokens_effect(training);
}

void check_effects(const ModelSpec& model, const TrainingSpec& training) {
    if (const std::optional<Refusal> why = without_effect(model, training)) throw InputError(*why);
}

}  // namespace sluice
