#include "sim/plan/schedules/streamed_kernels.h"

#include "sim/plan/sizes.h"

namespace sluice {
namespace {

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

/// AdamW reads and writes a parameter's state and reads its gradient. Moments in 8 bits take longer
/// than their bytes: a layer of 604 M parameters with 6 bytes of state each took 4.67 ms on an
/// H200, a copy of those bytes takes 2.06 (engine/measurements/experts).
std::int32_t update_on_device(double parameters, double gradient_bytes,
                              const TrainingSpec& training, PlanBuilder& build) {
    const double bytes = 2 * state_bytes(training) + gradient_bytes;
    constexpr double kEightBitWork = 17;
    Kernel update = memory_bound("AdamW", bytes * parameters);
    if (state_precision(training.state_bytes).has_scales())
        update.work_bytes = kEightBitWork * parameters;
    return build.kernels({update});
}

double table_elements(const ModelSpec& model) {
    return static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
}

}  // namespace

bool sums_gradients(const TrainingSpec& training) {
    return training.micro_batches() > 1 || training.micro_batch_block().in_chunks();
}

StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build) {
    const auto table = static_cast<double>((model.vocabulary + 1) * model.hidden);
    const std::int64_t tokens = training.micro_batch_block().tokens();
    const std::int64_t chunk = training.loss_chunk_tokens;
    const auto list = [&](std::int64_t rows) {
        return build.kernels(loss_kernels(model, {1, rows}, chunk, KernelStyle::fused,
                                          training.head_gradients, training.adapter_rank > 0));
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

StreamedAdapterKernels declare_adapter_kernels(const ModelSpec& model, const TrainingSpec& training,
                                               PlanBuilder& build) {
    const double all = all_adapter_parameters(model, training.adapters());
    return {finish_gradients(all, sums_gradients(training), build),
            update_on_device(all, kBf16, training, build)};
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
                                                      WeightCodes first, const WeightForm& form,
                                                      PlanBuilder& build) {
    const TokenBlock block = training.micro_batch_block();
    const bool fp8 = training.compute == Compute::fp8;
    const WeightCodes again = after_first(first);
    const auto precision = [&](WeightCodes weights, std::int64_t gate_up_bits) {
        return ProductPrecision{training.compute, weights, gate_up_bits, form.decoded_from};
    };
    std::vector<StreamedKernels> out;
    for (const LayerSpec& kind : model.kinds) {
        const double parameters = static_cast<double>(layer_parameters(model, kind));
        const auto forward = [&](WeightCodes weights) {
            const KernelList others = forward_kernels(model, kind, block, KernelStyle::fused,
                                                      precision(weights, 16), training.adapters());
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
        const auto backward = [&](std::int64_t gate_up_bits, bool computed_again) {
            return build.kernels(backward_kernels(
                model, kind, block, KernelStyle::fused, sums_gradients(training),
                precision(again, gate_up_bits), training.adapters(), computed_again));
        };
        StreamedKernels of_kind;
        of_kind.forward = forward(first);
        of_kind.forward_later =
            fp8 && training.micro_batches() > 1 ? forward(again) : of_kind.forward;
        of_kind.backward = {backward(training.kept_bits, false), backward(16, true)};
        for (const Recompute kept : {Recompute::full, Recompute::keep_attention, Recompute::none}) {
            const auto at = static_cast<std::size_t>(kept);
            of_kind.recompute[at] = build.kernels(recompute_kernels(
                model, kind, block, kept, precision(again, 16), training.adapters()));
            of_kind.forward_again[at] = build.kernels(forward_again_kernels(
                model, kind, block, kept, precision(again, 16), training.adapters()));
        }
        of_kind.finish_gradients = finish_gradients(parameters, sums_gradients(training), build);
        of_kind.update = update_on_device(parameters, kBf16, training, build);
        out.push_back(of_kind);
    }
    return out;
}

}  // namespace sluice
