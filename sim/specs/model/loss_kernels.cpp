#include <algorithm>
#include <bit>

#include "sim/specs/model/elementwise_traffic.h"
#include "sim/specs/model/layer_kernels.h"

namespace sluice {
namespace {

Kernel norm(const ElementwiseTraffic& traffic, std::int64_t rows, std::int64_t hidden) {
    Kernel kernel =
        elementwise("final norm", MemoryBoundWork::rms_norm, rows, hidden, traffic.norm);
    kernel.launches = traffic.launches_norm;
    return kernel;
}

Kernel norm_backward(const ElementwiseTraffic& traffic, std::int64_t rows, std::int64_t hidden) {
    Kernel kernel = elementwise("final norm backward", MemoryBoundWork::rms_norm_backward, rows,
                                hidden, traffic.norm_backward);
    kernel.launches = 2 * traffic.launches_norm;
    return kernel;
}

Kernel cross_entropy(const ElementwiseTraffic& traffic, std::int64_t rows,
                     std::int64_t vocabulary) {
    Kernel kernel = elementwise("cross-entropy", MemoryBoundWork::cross_entropy, rows, vocabulary,
                                traffic.cross_entropy);
    kernel.launches = traffic.launches_cross_entropy;
    return kernel;
}

}  // namespace

KernelList loss_kernels(const ModelSpec& model, TokenBlock block, std::int64_t chunk_tokens,
                        KernelStyle style, Compute gradients, bool frozen) {
    const ElementwiseTraffic& traffic = elementwise_traffic(style);
    // Fused: one chunk after the other; gradients are summed. In fact the first chunk writes the
    // sums, and the norm's backward adds to nothing. They are counted like the others, which is
    // less than 0.5% of a step.
    const bool fused = style == KernelStyle::fused;
    const std::int64_t tokens = block.tokens(), hidden = model.hidden, words = model.vocabulary;
    const bool fp8 = gradients == Compute::fp8;
    KernelList out;
    const auto cast = [&](std::int64_t rows, std::int64_t columns, int orders, bool sought) {
        const double elements = static_cast<double>(rows) * static_cast<double>(columns);
        if (fp8) out.push_back(cast_to_fp8(elements, orders, sought));
    };
    const auto add_gradient = [&](const Kernel& product) {
        out.push_back(fp8 ? in_fp8(product) : product);
    };
    if (!fused) out.push_back(norm(traffic, tokens, hidden));
    for (std::int64_t done = 0; done < tokens; done += chunk_tokens) {
        const std::int64_t rows = std::min(chunk_tokens, tokens - done);
        if (fused) out.push_back(norm(traffic, rows, hidden));
        out.push_back(gemm("logits", GemmRole::forward, rows, words, hidden));
        out.push_back(cross_entropy(traffic, rows, words));
        cast(rows, words, frozen ? 1 : 2, true);
        if (!frozen) cast(rows, hidden, 1, false);
        const Kernel weights =
            gemm("weight gradient", GemmRole::weight_gradient, words, hidden, rows);
        if (!frozen) add_gradient(fused ? with_addend(weights) : weights);
        add_gradient(gemm("input gradient", GemmRole::input_gradient, rows, hidden, words));
        if (fused) out.push_back(norm_backward(traffic, rows, hidden));
    }
    if (!fused) out.push_back(norm_backward(traffic, tokens, hidden));
    return out;
}

KernelList whole_loss_forward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style) {
    const std::int64_t tokens = block.tokens(), words = model.vocabulary;
    const double logits = static_cast<double>(tokens) * static_cast<double>(words);
    return {norm(elementwise_traffic(style), tokens, model.hidden),
            gemm("logits", GemmRole::forward, tokens, words, model.hidden),
            memory_bound("cross-entropy in fp32", kFloatCrossEntropy * logits, 3)};
}

KernelList whole_loss_backward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style,
                                       bool frozen) {
    const std::int64_t tokens = block.tokens(), words = model.vocabulary, hidden = model.hidden;
    const double logits = static_cast<double>(tokens) * static_cast<double>(words);
    KernelList out = {
        memory_bound("cross-entropy in fp32 backward", kFloatCrossEntropyBackward * logits, 3)};
    if (!frozen)
        out.push_back(gemm("weight gradient", GemmRole::weight_gradient, words, hidden, tokens));
    out.push_back(gemm("input gradient", GemmRole::input_gradient, tokens, hidden, words));
    out.push_back(norm_backward(elementwise_traffic(style), tokens, hidden));
    return out;
}

std::int64_t fused_loss_chunk(const ModelSpec& model, std::int64_t tokens) {
    const std::int64_t chunks = (model.vocabulary + model.hidden - 1) / model.hidden;
    const auto rows = static_cast<std::uint64_t>((tokens + chunks - 1) / chunks);
    return static_cast<std::int64_t>(std::bit_ceil(rows));
}

KernelList fused_loss_forward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style,
                                      bool frozen) {
    const std::int64_t tokens = block.tokens(), words = model.vocabulary, hidden = model.hidden;
    const std::int64_t chunk = fused_loss_chunk(model, tokens);
    KernelList out = {norm(elementwise_traffic(style), tokens, hidden)};
    for (std::int64_t done = 0; done < tokens; done += chunk) {
        const std::int64_t rows = std::min(chunk, tokens - done);
        out.push_back(gemm("logits", GemmRole::forward, rows, words, hidden));
        // Its Triton kernel overwrites the logits with their gradient, as the trainer's does.
        out.push_back(cross_entropy(kFusedTraffic, rows, words));
        out.push_back(gemm("input gradient", GemmRole::input_gradient, rows, hidden, words));
        if (!frozen)
            out.push_back(with_addend(
                gemm("weight gradient", GemmRole::weight_gradient, words, hidden, rows)));
    }
    return out;
}

KernelList fused_loss_backward_kernels(const ModelSpec& model, TokenBlock block,
                                       KernelStyle style) {
    return {norm_backward(elementwise_traffic(style), block.tokens(), model.hidden)};
}

}  // namespace sluice
