#include "sim/plan/schedules/streamed_kernels.h"

#include "sim/plan/schedules/streamed_memory.h"

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

}  // namespace

StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build) {
    const auto table = static_cast<double>((model.vocabulary + 1) * model.hidden);
    const std::int64_t tokens = training.micro_batch_block().tokens();
    const std::int64_t chunk = training.loss_chunk_tokens;
    const auto list = [&](std::int64_t rows) {
        return build.kernels(loss_kernels(model, {1, rows}, chunk, KernelStyle::fused));
    };
    StreamedHeadKernels out;
    if (tokens >= chunk) out.loss.assign(static_cast<std::size_t>(tokens / chunk), list(chunk));
    if (tokens % chunk > 0) out.loss.push_back(list(tokens % chunk));
    out.finish_gradients = finish_gradients(table, true, build);
    return out;
}

std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      PlanBuilder& build) {
    const TokenBlock block = training.micro_batch_block();
    std::vector<StreamedKernels> out;
    for (const LayerSpec& kind : model.kinds) {
        const double parameters = static_cast<double>(layer_parameters(model, kind));
        KernelList back =
            backward_kernels(model, kind, block, KernelStyle::fused, sums_gradients(training));
        out.push_back({build.kernels(forward_kernels(model, kind, block, KernelStyle::fused)),
                       build.kernels(recompute_kernels(model, kind, block, training.recompute)),
                       build.kernels(std::move(back)),
                       build.kernels(recompute_kernels(model, kind, block, Recompute::none)),
                       finish_gradients(parameters, sums_gradients(training), build)});
    }
    return out;
}

}  // namespace sluice
