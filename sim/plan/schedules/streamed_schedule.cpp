// Which options, phases and kernels has our schedule?
#include "sim/plan/runs_today.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

// Enough that one layer's gradients arrive while another's are applied, and two more wait, should
// an update take longer than usual. Predicted for qwen2.5-7b on h200-pcie5-16vcpu-128gib: one slab
// takes 13% longer a step at batch 4; from two on, a step takes the same (2, 4 and 8 slabs: 1.42 s
// at batch 4, 2.85 s at batch 32), so that two are spare. A slab of it is 0.5 GB.
constexpr std::int64_t kDefaultHostSlabs = 4;

/// Once a layer's or the head's gradients are complete: sums in fp32 are rounded, the norm reads
/// the result.
std::int32_t finish_gradients(double parameters, bool summed, PlanBuilder& build) {
    KernelList list;
    const auto all = static_cast<std::int64_t>(parameters);
    if (summed) {
        list.push_back(
            elementwise("round gradients", MemoryBoundWork::round_to_bf16, 1, all, kFp32 + kBf16));
    }
    // Without clipping too: the norm tells what is not finite, before parameters are lost to it.
    list.push_back(elementwise("gradient norm", MemoryBoundWork::sum_squares, 1, all, kBf16));
    return build.kernels(std::move(list));
}

/// AdamW reads and writes a parameter's state and reads its gradient.
std::int32_t update_on_device(double parameters, double gradient_bytes,
                              const TrainingSpec& training, PlanBuilder& build) {
    const double bytes = 2 * state_bytes(training) + gradient_bytes;
    return build.kernels({memory_bound("AdamW", bytes * parameters)});
}

double table_elements(const ModelSpec& model) {
    return static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
}

/// From the first operation of a kind to the first of the next; the tail lasts until the next
/// step's first compute.
std::vector<Phase> streamed_phases() {
    using At = StepMark::At;
    const StepMark loss{At::first_start, OperationKind::loss}, computed{At::compute_end};
    const StepMark backward{At::first_start, OperationKind::backward};
    return {{"forward", {At::zero}, loss},
            {"loss", loss, backward},
            {"backward", backward, computed},
            {"tail", computed, {At::zero, {}, true}}};
}

}  // namespace

ScheduleRecord streamed_schedule() {
    return {
        .name = "streamed",
        .about =
            "Layers pass through the GPU and states stay on the host, so that large models "
            "fit; link and host can limit the speed.",
        .plan = [](const auto& model, const auto& machine,
                   const auto& training) { return plan_streamed(model, machine, training).step; },
        .options = {"passes",
                    "buffer_depth",
                    "gradient_slabs",
                    "host_gradient_slabs",
                    "compute",
                    "head_gradients",
                    "weight_code_layers",
                    "stream_weights",
                    "recompute",
                    "keep_last_layers",
                    "host_kept_layers",
                    "keep_attention_layers",
                    "kept_bits",
                    "resident_layers",
                    "resident_tables",
                    "deferred_layers",
                    "visiting_layers",
                    "late_moment_layers",
                    "checkpoints",
                    "saved_inputs",
                    "state_bytes",
                    "optimizer_threads",
                    "clipping",
                    "loss_chunk_tokens",
                    "feed_forward_chunk_tokens",
                    "attend_within",
                    "document_tokens",
                    "distinct_tokens"},
        .program = {.name = "sluice-train",
                    .gpu_makers = {"NVIDIA"},
                    .lacks = missing_in_trainer,
                    .lacks_setting = setting_missing_in_trainer,
                    .source = "the trainer of this version",
                    .date = "2026-11-23"},
        .ours = true,
        .users_run = {},
        .structural_error = kStructuralError,
        .phases = streamed_phases()};
}

bool keeps_weight_codes(const TrainingSpec& training, int layer) {
    return layer < training.weight_code_layers;
}

bool arrives_as_codes(const TrainingSpec& training, int layer) {
    return training.streams_codes() && layer >= training.resident_layers;
}

namespace {
/// Whether `layer` is one of `chosen` that are evenly spread over those from `first` on.
bool evenly_chosen(const ModelSpec& model, std::int64_t chosen, std::int64_t first, int layer) {
    const std::int64_t all = model.layer_count() - first, index = layer - first;
    return index >= 0 && index < all && (index + 1) * chosen / all > index * chosen / all;
}
}  // namespace

bool is_deferred(const ModelSpec& model, const TrainingSpec& training, int layer) {
    return evenly_chosen(model, training.deferred_layers, training.resident_layers, layer);
}

bool has_late_moments(const ModelSpec& model, const TrainingSpec& training, int layer) {
    const std::int64_t first = training.resident_layers + training.visiting_layers;
    if (layer == model.layer_count()) return training.late_moment_layers > 0;
    return evenly_chosen(model, training.late_moment_layers, first, layer);
}

bool may_update_ahead(const ModelSpec& model, const TrainingSpec& training, int layer) {
    if (training.clipping != Clipping::automatic) return false;
    if (layer == model.layer_count()) return !training.resident_head() && !model.tied_embeddings;
    return layer >= training.resident_layers + training.visiting_layers &&
           !is_deferred(model, training, layer);
}

bool sums_gradients(const TrainingSpec& training) {
    return training.micro_batches() > 1 || training.micro_batch_block().in_chunks();
}

double embedding_rows_in_use(const ModelSpec& model, const TrainingSpec& training) {
    return std::min(tokens(training),
                    static_cast<double>(model.vocabulary + model.learned_positions));
}

double rows_updated_first(const ModelSpec& model, const TrainingSpec& training) {
    const double most = embedding_rows_in_use(model, training);
    const bool all = most == static_cast<double>(model.vocabulary + model.learned_positions);
    if (all || training.distinct_tokens == 0) return most;
    return std::min(most, static_cast<double>(training.distinct_tokens));
}

double state_bytes(const TrainingSpec& training) {
    return state_precision(training.state_bytes).bytes_with_scales();
}

std::int64_t host_gradient_slabs(const TrainingSpec& training) {
    return training.host_gradient_slabs == 0 ? kDefaultHostSlabs : training.host_gradient_slabs;
}

Bytes document_begins_bytes(const TrainingSpec& training) {
    return 4 * (training.tokens() + training.micro_batches());
}

double token_index_bytes(const ModelSpec& model, const TrainingSpec& training) {
    constexpr double kTokens = 2 * 4, kRow = 3 * 4;
    return kTokens * tokens(training) + kRow * embedding_rows_in_use(model, training);
}

StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build) {
    const auto table = static_cast<double>((model.vocabulary + 1) * model.hidden);
    const std::int64_t tokens = training.micro_batch_block().tokens();
    const std::int64_t chunk = training.loss_chunk_tokens;
    const auto list = [&](std::int64_t rows) {
        return build.kernels(
            loss_kernels(model, {1, rows}, chunk, KernelStyle::fused, training.head_gradients));
    };
    StreamedHeadKernels out;
    if (training.head_gradients == Compute::fp8)
        out.loss.push_back(build.kernels({cast_to_fp8(table_elements(model), 1, true)}));
    if (tokens >= chunk)
        out.loss.insert(out.loss.end(), static_cast<std::size_t>(tokens / chunk), list(chunk));
    if (tokens % chunk > 0) out.loss.push_back(list(tokens % chunk));
    out.finish_gradients = finish_gradients(table, true, build);
    out.update =
        update_on_device(static_cast<double>(head_parameters(model)), kBf16, training, build);
    return out;
}

StreamedEmbeddingKernels declare_embedding_kernels(const ModelSpec& model,
                                                   const TrainingSpec& training,
                                                   PlanBuilder& build) {
    const double table = static_cast<double>(embedding_parameters(model));
    const double rows = embedding_rows_in_use(model, training) * static_cast<double>(model.hidden);
    const double batch = input_bytes(model, training);
    // The sums of all rows are zeroed, and the used ones written. AdamW adds the head's gradient to
    // them if that belongs to the same table.
    const double head = model.tied_embeddings ? kBf16 : 0;
    return {build.kernels({memory_bound("gather rows", 2 * batch)}),
            build.kernels({memory_bound("zero rows' gradients", kFp32 * table),
                           memory_bound("sum rows' gradients", batch + (kFp32 + head) * rows)}),
            update_on_device(table, kFp32 + head, training, build)};
}

std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      WeightCodes first, PlanBuilder& build) {
    const TokenBlock block = training.micro_batch_block();
    const bool fp8 = training.compute == Compute::fp8;
    const WeightCodes again = after_first(first);
    const auto precision = [&](WeightCodes weights, std::int64_t gate_up_bits) {
        return ProductPrecision{training.compute, weights, gate_up_bits};
    };
    std::vector<StreamedKernels> out;
    for (const LayerSpec& kind : model.kinds) {
        const double parameters = static_cast<double>(layer_parameters(model, kind));
        const auto forward = [&](WeightCodes weights) {
            const KernelList others =
                forward_kernels(model, kind, block, KernelStyle::fused, precision(weights, 16));
            KernelList keeping = others;
            // SwiGLU writes the codes of gate and up, too. Measured on an H200: 1.22 times the time
            // of copying their bytes.
            constexpr double kSlower = 1.22;
            if (training.kept_bits == 8)
                keeping.push_back(
                    memory_bound("codes of gate and up",
                                 kSlower * activation_bytes_per_token(model, kind).gate_up_8_bit *
                                     static_cast<double>(block.tokens()),
                                 0));
            return StreamedKernels::Lists{build.kernels(std::move(keeping)), build.kernels(others)};
        };
        const auto backward = [&](std::int64_t gate_up_bits) {
            return build.kernels(backward_kernels(model, kind, block, KernelStyle::fused,
                                                  sums_gradients(training),
                                                  precision(again, gate_up_bits)));
        };
        StreamedKernels of_kind;
        of_kind.forward = forward(first);
        of_kind.forward_later =
            fp8 && training.micro_batches() > 1 ? forward(again) : of_kind.forward;
        of_kind.backward = {backward(training.kept_bits), backward(16)};
        for (const Recompute kept : {Recompute::full, Recompute::keep_attention, Recompute::none}) {
            const auto at = static_cast<std::size_t>(kept);
            of_kind.recompute[at] =
                build.kernels(recompute_kernels(model, kind, block, kept, precision(again, 16)));
            of_kind.forward_again[at] = build.kernels(
                forward_again_kernels(model, kind, block, kept, precision(again, 16)));
        }
        of_kind.finish_gradients = finish_gradients(parameters, sums_gradients(training), build);
        of_kind.update = update_on_device(parameters, kBf16, training, build);
        out.push_back(of_kind);
    }
    return out;
}

}  // namespace sluice
