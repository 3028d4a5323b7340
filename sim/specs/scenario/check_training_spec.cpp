// Are the settings of a training valid together?
#include "sim/specs/scenario/refused.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// Each chunk is planned as kernels of its own: 100,000 chunks take some 50 MB, and no chunk that
/// small is fast.
std::optional<Refusal> chunks_rule(const TrainingSpec& spec) {
    constexpr std::int64_t kMost = 100'000;
    const std::int64_t tokens = spec.micro_batch_block().tokens();
    for (const char* const field : {"feed_forward_chunk_tokens", "loss_chunk_tokens"}) {
        const auto of = static_cast<std::int64_t>(training_option(field).get(spec));
        if (of > 0 && has_option(spec.schedule, field) && (tokens + of - 1) / of > kMost)
            return refused(spec, field,
                           ", which cuts {} tokens into more than {} chunks; give at least {}",
                           tokens, kMost, (tokens + kMost - 1) / kMost);
    }
    return std::nullopt;
}

std::optional<Refusal> micro_batches_rule(const TrainingSpec& spec) {
    constexpr std::int64_t kMost = 1024;  // the plan has an operation per layer for each
    if (spec.micro_batches() <= kMost) return std::nullopt;
    const std::int64_t part = spec.batch_of_a_gpu();
    return refused(spec, "micro_batch",
                   ", which cuts a batch of {} into more than {} micro-batches; give at least {}",
                   part, kMost, (part + kMost - 1) / kMost);
}

/// Numbers of which only some of the range mean something.
std::optional<Refusal> numbers_rule(const TrainingSpec& spec) {
    const auto expected = [&](const char* field) {
        return refused(spec, field, ", expected {}", training_option(field).numbers);
    };
    if (find_state_precision(spec.state_bytes) == nullptr) return expected("state_bytes");
    if (spec.kept_bits != 16 && spec.kept_bits != 8) return expected("kept_bits");
    return std::nullopt;
}

/// Each GPU takes an equal part of the batch, in equal micro-batches; or GPUs take turns at the
/// micro-batches of a pass.
std::optional<Refusal> batch_rule(const TrainingSpec& spec) {
    const std::int64_t part = spec.batch_of_a_gpu(), micro_batch = spec.micro_batch_sequences();
    if (spec.schedule->gpus_take_turns) {
        if (spec.batch >= spec.passes * micro_batch) return std::nullopt;
        return refused(spec, "batch",
                       ", expected at least {}: {} sequences in each of {} passes; give a larger "
                       "one, or a smaller --micro-batch",
                       spec.passes * micro_batch, micro_batch, spec.passes);
    }
    if (spec.batch % spec.gpus != 0)
        return refused(spec, "batch",
                       ", expected a multiple of --gpus ({}), as each GPU takes an equal part of "
                       "it; change one of them",
                       spec.gpus);
    if (spec.micro_batch > part)
        return spec.gpus == 1
                   ? refused(spec, "micro_batch",
                             ", expected at most the batch ({}); give a divisor of the batch", part)
                   : refused(spec, "micro_batch",
                             ", expected at most a GPU's part of the batch of {} ({}); give a "
                             "divisor of it",
                             spec.batch, part);
    if (part % micro_batch != 0)
        return refused(spec, "batch",
                       "{}, expected a multiple of --micro-batch ({}), so that all micro-batches "
                       "are equal; change one of them",
                       spec.gpus == 1 ? "" : fmt::format(", {} a GPU", part), spec.micro_batch);
    return std::nullopt;
}

/// Each pass takes equal micro-batches.
std::optional<Refusal> passes_rule(const TrainingSpec& spec) {
    const bool of_sequences = spec.micro_batch == 0;
    const std::int64_t whole = of_sequences ? spec.batch_of_a_gpu() : spec.micro_batches();
    if (spec.schedule->gpus_take_turns || whole % spec.passes == 0) return std::nullopt;
    return refused(spec, "passes",
                   ", expected a divisor of the {} {}, so that all passes are equal", whole,
                   of_sequences ? "sequences" : "micro-batches");
}

/// PyTorch's checkpointing of a layer keeps only its input.
std::optional<Refusal> recompute_rule(const TrainingSpec& spec) {
    if (!spec.schedule->keeps_inputs_alone || spec.recompute != Recompute::keep_attention)
        return std::nullopt;
    return refused(spec, "recompute",
                   ", which the schedule {} does not have; give full (torch.utils.checkpoint on "
                   "each layer) or none",
                   spec.schedule->name);
}

/// Options that a schedule does not have must keep their defaults.
std::optional<Refusal> used_options_rule(const TrainingSpec& spec) {
    const TrainingSpec standard;
    for (const Option& option : training_options())
        if (!has_option(spec.schedule, option) && option.get(spec) != option.get(standard))
            return refused(spec, option.field,
                           ", which the schedule {} does not have; leave it out",
                           spec.schedule->name);
    return std::nullopt;
}

/// A document is at most as long as its sequence.
std::optional<Refusal> documents_rule(const TrainingSpec& spec) {
    constexpr const char* kField = "document_tokens";
    if (!spec.within_documents() && spec.document_tokens > 0)
        return refused(spec, kField, ", expected 0 where --attend-within is not document");
    if (spec.document_tokens > spec.sequence)
        return refused(spec, kField, ", expected at most --seq {}", spec.sequence);
    return std::nullopt;
}

/// Weight gradients sum over tokens.
std::optional<Refusal> fp8_rule(const TrainingSpec& spec) {
    const bool in_layers = spec.compute == Compute::fp8,
               in_head = spec.head_gradients == Compute::fp8;
    const std::int64_t tokens = spec.micro_batch_block().tokens();
    if (spec.computes_in_fp8() && tokens % kFp8Terms != 0)
        return refused(spec, in_layers ? "compute" : "head_gradients",
                       " with {} tokens in a micro-batch, expected a multiple of {}; change --seq "
                       "or --micro-batch",
                       tokens, kFp8Terms);
    if (in_layers && spec.feed_forward_chunk_tokens % kFp8Terms != 0)
        return refused(spec, "feed_forward_chunk_tokens",
                       ", expected a multiple of {} with --compute fp8", kFp8Terms);
    if (in_head && spec.loss_chunk_tokens % kFp8Terms != 0)
        return refused(spec, "loss_chunk_tokens",
                       ", expected a multiple of {} with --head-gradients fp8", kFp8Terms);
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> refusal_of(const TrainingSpec& spec) {
    for (const auto rule :
         {used_options_rule, passes_rule, batch_rule, numbers_rule, chunks_rule, micro_batches_rule,
          recompute_rule, home_refusal, documents_rule, fp8_rule})
        if (std::optional<Refusal> why = rule(spec)) return why;
    return std::nullopt;
}

void check_training_spec(const TrainingSpec& spec) {
    if (const std::optional<Refusal> why = refusal_of(spec)) throw InputError(*why);
}

}  // namespace sluice
