#include "sim/plan/schedules/llmq_kernels.h"

#include <algorithm>

namespace sluice {
namespace {

// Bytes per element in FP8: a cast with a known scale, and the search of the largest number.
constexpr double kCast = kBf16 + 1, kLargest = kBf16;
// Codes are read and written. Their transposition reaches 0.7 of a device copy's rate: with that
// share, FP8 steps over bf16 steps on an H100 are as LLMQ publishes them (benchmarks/H100x1.md).
constexpr double kTranspose = 2 / 0.7;
// Its backward of the activation reads three tensors and writes two; the product is kept.
constexpr double kActivationBackward = 5 * kBf16;
// A norm also reads and writes the residual.
constexpr double kResidual = 2 * kBf16;

double size(std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
}

Kernel alone(const Kernel& k) { return gemm(k.name, k.role, k.m, k.n, k.k, k.count); }

Kernel sum_of_gradients(const Kernel& k) {
    return memory_bound("sum of gradients", kBf16 * static_cast<double>(k.count) * size(k.m, k.n));
}

}  // namespace

LlmqKernels::LlmqKernels(const ModelSpec& model, const TrainingSpec& pass)
    : model_(model), pass_(pass), block_(pass.batch_block()), fp8_(pass.compute == Compute::fp8) {}

void LlmqKernels::cast(KernelList& out, double bytes) const {
    if (fp8_) out.push_back(memory_bound("cast to FP8", bytes));
}

void LlmqKernels::multiply(KernelList& out, const Kernel& product) const {
    out.push_back(fp8_ ? in_fp8(alone(product)) : alone(product));
}

KernelList LlmqKernels::cast_weights(const LayerSpec& layer) const {
    KernelList out;
    cast(out, kCast * static_cast<double>(layer_parameters(model_, layer)));
    return out;
}

KernelList LlmqKernels::forward(const LayerSpec& layer) const {
    KernelList out;
    bool of_attention = false;  // its output's largest number is not known yet
    for (const Kernel& k : forward_kernels(model_, layer, block_, KernelStyle::fused)) {
        if (k.kind == KernelKind::gemm) {
            cast(out, (kCast + (of_attention ? kLargest : 0)) * size(k.m, k.k));
            multiply(out, k);
        } else {
            out.push_back(k);
        }
        of_attention = k.kind == KernelKind::attention_forward;
    }
    out.push_back(memory_bound("residual", 2 * kResidual * size(block_.tokens(), model_.hidden)));
    return out;
}

/// With keep_attention both norms and the feed-forward up to its last product, as LLMQ's options
/// --recompute-norm and --recompute-ffn.
KernelList LlmqKernels::recomputed(const LayerSpec& layer) const {
    if (pass_.recompute == Recompute::none) return {};
    KernelList all = forward(layer);
    if (pass_.recompute == Recompute::full) return all;
    const auto is_norm = [](const Kernel& k) { return k.work == MemoryBoundWork::rms_norm; };
    const auto is_product = [](const Kernel& k) { return k.kind == KernelKind::gemm; };
    const auto norm = std::find_if(all.rbegin(), all.rend(), is_norm).base() - 1;
    const auto last = std::find_if(all.rbegin(), all.rend(), is_product).base() - 1;
    KernelList out = {*norm};
    out.insert(out.end(), norm, std::max(norm, last));
    return out;
}

/// The weight gradient (out, in) of a product follows its input gradient (tokens, in).
KernelList LlmqKernels::backward(const LayerSpec& layer, bool sums) const {
    KernelList out = recomputed(layer);
    for (const Kernel& k : backward_kernels(model_, layer, block_, KernelStyle::fused)) {
        if (k.work == MemoryBoundWork::swiglu_and_gradient) {
            out.push_back(
                memory_bound("activation backward", kActivationBackward * size(k.rows, k.columns)));
            continue;
        }
        if (k.kind != KernelKind::gemm) {
            out.push_back(k);
            continue;
        }
        if (k.role == GemmRole::input_gradient)
            cast(out, kCast * size(k.m, k.k) + kTranspose * size(k.n, k.k));
        else
            cast(out, kTranspose * (size(k.m, k.k) + size(k.n, k.k)));
        multiply(out, k);
        if (sums && k.role == GemmRole::weight_gradient) out.push_back(sum_of_gradients(k));
    }
    return out;
}

KernelList LlmqKernels::head(bool sums) const {
    KernelList out;
    for (const Kernel& k :
         loss_kernels(model_, block_, pass_.loss_chunk_tokens, KernelStyle::fused)) {
        out.push_back(k.kind == KernelKind::gemm ? alone(k) : k);
        if (k.role != GemmRole::weight_gradient) continue;
        if (sums) out.push_back(sum_of_gradients(k));
        sums = true;  // the next chunk's
    }
    return out;
}

}  // namespace sluice
