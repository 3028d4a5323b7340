#include "sim/plan/fp8_sizes.h"

#include <algorithm>

#include "sim/plan/sizes.h"

namespace sluice {
namespace {

/// Operands of a layer's product, a byte an element: in forward x and W, in backward dy in both
/// orders and, one after the other, x and W.
double product_operands(const Kernel& weight_gradient) {
    const auto out = static_cast<double>(weight_gradient.m),
               in = static_cast<double>(weight_gradient.n),
               tokens = static_cast<double>(weight_gradient.k);
    const double forward = tokens * in + out * in,
                 backward = 2 * tokens * out + std::max(tokens * in, out * in);
    return static_cast<double>(weight_gradient.count) * std::max(forward, backward);
}

/// Operands that SwiGLU's backward writes for the products before and after it, while the first has
/// its operands and then the second.
double feed_forward_operands(const ModelSpec& model, const LayerSpec& layer, double tokens) {
    const double hidden = static_cast<double>(model.hidden),
                 width = static_cast<double>(layer.feed_forward.intermediate),
                 gate_up = width * static_cast<double>(layer.feed_forward.projections());
    return tokens * (2 * gate_up + width) + std::max(2 * tokens * hidden + hidden * width,
                                                     std::max(tokens * hidden, gate_up * hidden));
}

/// The most operands of a layer's products, which take turns.
double layer_operands(const ModelSpec& model, const TrainingSpec& training) {
    const TokenBlock block = training.micro_batch_block();
    const std::int64_t chunk = block.feed_forward_chunk == 0
                                   ? block.tokens()
                                   : std::min(block.feed_forward_chunk, block.tokens());
    double most = 0;
    for (const LayerSpec& kind : model.kinds) {
        most = std::max(most, feed_forward_operands(model, kind, static_cast<double>(chunk)));
        for (const Kernel& k : backward_kernels(model, kind, block, KernelStyle::fused))
            if (k.kind == KernelKind::gemm && k.role == GemmRole::weight_gradient)
                most = std::max(most, product_operands(k));
    }
    return most;
}

/// Codes of the output projection, of a chunk's normed hidden states, and in both orders of its
/// logits' gradients.
double head_operands(const ModelSpec& model, const TrainingSpec& training) {
    const double rows = static_cast<double>(
        std::min(training.loss_chunk_tokens, training.micro_batch_block().tokens()));
    return table_bytes(model) / kBf16 +
           rows * static_cast<double>(model.hidden + 2 * model.vocabulary);
}

}  // namespace

double fp8_weight_bytes(const ModelSpec& model, const TrainingSpec& training,
                        const Placement& placement, int layer) {
    if (training.compute == Compute::bf16 || placement.is_coded(layer)) return 0;
    constexpr double kScale = 256;  // of a matrix, aligned as all parts of a buffer
    double bytes = 0;
    for (const Kernel& k :
         backward_kernels(model, model.layer(layer), {1, 16, 0}, KernelStyle::fused)) {
        if (k.kind != KernelKind::gemm || k.role != GemmRole::weight_gradient) continue;
        bytes += kScale;
        if (placement.home(layer, Plane::codes).exists())
            bytes += 2 * static_cast<double>(k.count * k.m) * static_cast<double>(k.n);
    }
    return bytes;
}

double fp8_operand_bytes(const ModelSpec& model, const TrainingSpec& training) {
    return std::max(training.compute == Compute::fp8 ? layer_operands(model, training) : 0,
                    training.head_gradients == Compute::fp8 ? head_operands(model, training) : 0);
}

}  // namespace sluice
