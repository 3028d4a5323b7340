// Are the settings of a training valid together?
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/state_precision.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

/// Each chunk is planned as kernels of its own: 100,000 chunks take some 50 MB, and no chunk that
/// small is fast.
void check_chunks(std::int64_t tokens, std::int64_t chunk_tokens, std::string_view field) {
    constexpr std::int64_t kMostChunks = 100'000;
    if (chunk_tokens == 0 || (tokens + chunk_tokens - 1) / chunk_tokens <= kMostChunks) return;
    throw InputError(
        fmt::format("{} is {}, which cuts {} tokens into more than {} chunks; give at least {}",
                    option_flag(training_option(field)), chunk_tokens, tokens, kMostChunks,
                    (tokens + kMostChunks - 1) / kMostChunks),
        std::string(field));
}

constexpr std::int64_t kMostMicroBatches = 1024;  // the plan has an operation per layer for each

/// GPUs take turns at the micro-batches of a pass.
void check_shared_batch(const TrainingSpec& spec) {
    if (spec.batch < spec.passes * spec.micro_batch_sequences())
        throw InputError(
            fmt::format("--batch is {}, expected at least {}: {} sequences in each of {} passes; "
                        "give a larger one, or a smaller --micro-batch",
                        spec.batch, spec.passes * spec.micro_batch_sequences(),
                        spec.micro_batch_sequences(), spec.passes),
            "batch");
}

/// Each GPU takes an equal part of the batch, in equal micro-batches.
void check_batch(const TrainingSpec& spec) {
    if (spec.schedule->gpus_take_turns) return check_shared_batch(spec);
    if (spec.batch % spec.gpus != 0)
        throw InputError(fmt::format("--batch is {}, expected a multiple of --gpus ({}), as each "
                                     "GPU takes an equal part of "
                                     "it; change one of them",
                                     spec.batch, spec.gpus),
                         "batch");
    const std::int64_t part = spec.batch_of_a_gpu();
    const std::string of_it =
        spec.gpus == 1 ? "the batch" : fmt::format("a GPU's part of the batch of {}", spec.batch);
    if (spec.micro_batch > part)
        throw InputError(
            fmt::format("--micro-batch is {}, expected at most {} ({}); give a divisor of {}",
                        spec.micro_batch, of_it, part, spec.gpus == 1 ? "the batch" : "it"),
            "micro_batch");
    if (part % spec.micro_batch_sequences() != 0)
        throw InputError(
            fmt::format("--batch is {}{}, expected a multiple of --micro-batch ({}), so that all "
                        "micro-batches are equal; change one of them",
                        spec.batch, spec.gpus == 1 ? "" : fmt::format(", {} a GPU", part),
                        spec.micro_batch),
            "batch");
}

/// Each pass takes equal micro-batches.
void check_passes(const TrainingSpec& spec) {
    const std::int64_t part = spec.batch_of_a_gpu();
    const std::int64_t whole = spec.micro_batch == 0 ? part : spec.micro_batches();
    if (spec.schedule->gpus_take_turns) return;
    if (whole % spec.passes != 0)
        throw InputError(
            fmt::format("--passes is {}, expected a divisor of the {} {}, so that all passes are "
                        "equal",
                        spec.passes, whole, spec.micro_batch == 0 ? "sequences" : "micro-batches"),
            "passes");
    if (spec.passes > 1 && spec.checkpoints == CheckpointPlacement::host)
        throw InputError(
            fmt::format("--checkpoints is host with {} passes, whose layer inputs stay on the "
                        "device; give device, or --passes 1",
                        spec.passes),
            "checkpoints");
}

/// The layer that computes an input again has its weights beside those of the next layer, and one
/// input of all layers is computed at a time.
void check_saved_inputs(const TrainingSpec& spec) {
    if (!spec.saves_half()) return;
    if (spec.micro_batches() > 1)
        throw InputError(
            fmt::format("--saved-inputs is half with {} micro-batches, expected one; give all, or "
                        "a larger --micro-batch",
                        spec.micro_batches()),
            "saved_inputs");
    if (spec.buffer_depth < 2)
        throw InputError(
            "--saved-inputs is half with one weight slot, expected two or more; give "
            "all, or --buffer-depth 2",
            "saved_inputs");
}

/// Nothing is left to keep where all layers recompute nothing; an input that is computed again
/// reads what the layer below keeps, which must be there.
void check_host_kept(const TrainingSpec& spec) {
    if (spec.host_kept_layers == 0) return;
    const bool none = spec.recompute == Recompute::none;
    if (!none && !spec.saves_half()) return;
    throw InputError(
        fmt::format("--host-kept-layers is {} with {}, expected 0; leave it out, or give {}",
                    spec.host_kept_layers, none ? "--recompute none" : "--saved-inputs half",
                    none ? "--recompute full" : "--saved-inputs all"),
        "host_kept_layers");
}

/// PyTorch's checkpointing of a layer keeps only its input.
void check_recompute(const TrainingSpec& spec) {
    if (spec.keep_attention_layers > 0 && spec.recompute != Recompute::full)
        throw InputError(
            fmt::format("--keep-attention-layers is {} with --recompute {}, by which all layers "
                        "keep attention's output; leave it out",
                        spec.keep_attention_layers,
                        option_text(spec, training_option("recompute"))),
            "keep_attention_layers");
    if (!spec.schedule->keeps_inputs_alone || spec.recompute != Recompute::keep_attention) return;
    throw InputError(
        fmt::format("--recompute is keep_attention, which the schedule {} does not have; give full "
                    "(torch.utils.checkpoint on each layer) or none",
                    spec.schedule->name),
        "recompute");
}

/// Options that a schedule does not have must keep their defaults.
void check_used_options(const TrainingSpec& spec) {
    const TrainingSpec standard;
    for (const Option& option : training_options()) {
        if (has_option(spec.schedule, option) || option.get(spec) == option.get(standard)) continue;
        throw InputError(
            fmt::format("{} is {}, which the schedule {} does not have; leave it out",
                        option_flag(option), option_text(spec, option), spec.schedule->name),
            option.field);
    }
}

std::string clipping_text(const TrainingSpec& spec) {
    return option_text(spec, training_option("clipping"));
}

/// The norm is known after the last gradient.
void check_deferred(const TrainingSpec& spec) {
    if (spec.clipping != Clipping::exact || spec.deferred_layers == 0) return;
    throw InputError(
        fmt::format("--deferred-layers is {} with --clipping exact, which defers all updates; "
                    "leave it out, or give --clipping auto",
                    spec.deferred_layers),
        "deferred_layers");
}

void check_clips_exactly(const TrainingSpec& spec, const char* field, std::int64_t layers) {
    if (spec.updates_after_norm()) return;
    throw InputError(
        fmt::format("{} is {} with --clipping {}, expected 0; leave it out, or give --clipping "
                    "auto",
                    field_flag(field), layers, clipping_text(spec)),
        field);
}

/// An update before the norm is known gains nothing by it; the optimizer on the host writes codes.
void check_visiting(const TrainingSpec& spec) {
    if (spec.visiting_layers == 0) return;
    check_clips_exactly(spec, "visiting_layers", spec.visiting_layers);
    if (spec.streams_codes())
        throw InputError(
            fmt::format("--visiting-layers is {} with --stream-weights fp8, whose codes the "
                        "optimizer on the host writes; leave one of them out",
                        spec.visiting_layers),
            "visiting_layers");
}

/// Before the norm is known, weights and moments are updated at once; scales of moments need both.
void check_late_moments(const TrainingSpec& spec) {
    if (spec.late_moment_layers == 0) return;
    check_clips_exactly(spec, "late_moment_layers", spec.late_moment_layers);
    if (state_precision(spec.state_bytes).has_scales())
        throw InputError(
            fmt::format("--late-moment-layers is {} with --state-bytes {}, whose moments have "
                        "scales; leave it out, or give --state-bytes 12 or 8",
                        spec.late_moment_layers, spec.state_bytes),
            "late_moment_layers");
}

/// A document is at most as long as its sequence.
void check_documents(const TrainingSpec& spec) {
    const std::int64_t most = spec.within_documents() ? spec.sequence : 0;
    if (spec.document_tokens <= most) return;
    throw InputError(fmt::format("--document-tokens is {}, expected {}", spec.document_tokens,
                                 spec.within_documents()
                                     ? fmt::format("at most --seq {}", spec.sequence)
                                     : std::string("0 where --attend-within is not document")),
                     "document_tokens");
}

/// Weight gradients sum over tokens.
void check_fp8(const TrainingSpec& spec) {
    const bool in_layers = spec.compute == Compute::fp8;
    if (!in_layers && spec.weight_code_layers > 0)
        throw InputError(
            fmt::format("--weight-code-layers is {}, expected 0 where --compute is not fp8",
                        spec.weight_code_layers),
            "weight_code_layers");
    if (spec.streams_codes() && !in_layers)
        throw InputError(
            "--stream-weights is fp8, expected bf16 where --compute is not fp8; leave it out, or "
            "give --compute fp8",
            "stream_weights");
    if (spec.streams_codes() && spec.weight_code_layers > spec.resident_layers)
        throw InputError(
            fmt::format("--weight-code-layers is {}, expected at most --resident-layers {}: with "
                        "--stream-weights fp8 all other layers arrive as codes",
                        spec.weight_code_layers, spec.resident_layers),
            "weight_code_layers");
    if (!spec.computes_in_fp8()) return;
    const std::string field = in_layers ? "compute" : "head_gradients";
    const std::int64_t tokens = spec.micro_batch_block().tokens();
    if (tokens % kFp8Terms != 0)
        throw InputError(fmt::format("{} is fp8 with {} tokens in a micro-batch, expected a "
                                     "multiple of {}; change --seq or --micro-batch",
                                     field_flag(field), tokens, kFp8Terms),
                         field);
    const auto check_chunk = [](const char* chunk, std::int64_t of, const char* because) {
        if (of % kFp8Terms == 0) return;
        throw InputError(fmt::format("{} is {}, expected a multiple of {} with {} fp8",
                                     field_flag(chunk), of, kFp8Terms, field_flag(because)),
                         chunk);
    };
    if (in_layers)
        check_chunk("feed_forward_chunk_tokens", spec.feed_forward_chunk_tokens, "compute");
    if (spec.head_gradients == Compute::fp8)
        check_chunk("loss_chunk_tokens", spec.loss_chunk_tokens, "head_gradients");
}

}  // namespace

void check_training_spec(const TrainingSpec& spec) {
    check_used_options(spec);
    check_passes(spec);
    check_batch(spec);
    if (find_state_precision(spec.state_bytes) == nullptr)
        throw InputError(fmt::format("--state-bytes is {}, expected {}", spec.state_bytes,
                                     training_option("state_bytes").numbers),
                         "state_bytes");
    if (spec.kept_bits != 16 && spec.kept_bits != 8)
        throw InputError(fmt::format("--kept-bits is {}, expected {}", spec.kept_bits,
                                     training_option("kept_bits").numbers),
                         "kept_bits");
    const std::int64_t block_tokens = spec.micro_batch_block().tokens();
    check_chunks(block_tokens, spec.feed_forward_chunk_tokens, "feed_forward_chunk_tokens");
    if (has_option(spec.schedule, "loss_chunk_tokens"))
        check_chunks(block_tokens, spec.loss_chunk_tokens, "loss_chunk_tokens");
    const std::int64_t part = spec.batch_of_a_gpu();
    if (spec.micro_batches() > kMostMicroBatches) {
        throw InputError(
            fmt::format("--micro-batch is {}, which cuts a batch of {} into more than {} "
                        "micro-batches; give at least {}",
                        spec.micro_batch, part, kMostMicroBatches,
                        (part + kMostMicroBatches - 1) / kMostMicroBatches),
            "micro_batch");
    }
    check_recompute(spec);
    check_deferred(spec);
    check_visiting(spec);
    check_late_moments(spec);
    check_saved_inputs(spec);
    check_host_kept(spec);
    check_documents(spec);
    check_fp8(spec);
}

}  // namespace sluice
