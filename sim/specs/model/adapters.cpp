#include "sim/specs/model/adapters.h"

#include "sim/specs/model/module_experts.h"

namespace sluice {
namespace {

double matrix_numbers(std::int64_t rows, std::int64_t columns, std::int64_t count) {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(count);
}

// Products of few columns are all reading and writing. cuBLAS moves 2.5 to 4.1 TB/s in those of
// ranks 16 to 48 (docs/adapters.md), and a copy 4.1. The lower rate is taken, for each product has
// one adapter's columns. It is all that is fitted: steps of validation/peers/adapters.py on an H200
// are predicted 1.2% (8 x 1,024) and 3.1% (4 x 4,096, recomputed) too fast, at 4.1 TB/s 4.5% and
// 6.0%.
constexpr double kFewColumnsWork = 4.1 / 2.5 - 1;

/// One of peft's two products of a linear layer, or of their gradients.
Kernel few_columns(GemmRole role, const char* name, std::int64_t m, std::int64_t n, std::int64_t k,
                   std::int64_t count) {
    Kernel product = gemm(name, role, m, n, k, count);
    product.work_bytes = kFewColumnsWork * product.bytes;
    return product;
}

// Elementwise: the adapter's result is scaled (read, written) and added (two read, one written).
constexpr double kScale = 2.0 * kBf16, kAdd = 3.0 * kBf16;

}  // namespace

namespace {

/// Calls `use(tensor, parts)` for each tensor that has adapters, of that many linear layers.
template <typename Use>
void each_adapted(const ModelSpec& model, const LayerSpec& layer, Use use) {
    for (const ParameterTensor& tensor : layer_tensors(model, layer)) {
        const bool stacked = tensor.count > 1 && experts_are_stacked(layer.feed_forward);
        if (tensor.columns == 1 || stacked) continue;
        use(tensor, static_cast<std::int64_t>(tensor.rows_of_parts().size()));
    }
}

}  // namespace

std::int64_t adapter_parameters(const ModelSpec& model, const LayerSpec& layer, std::int64_t rank) {
    std::int64_t sum = 0;
    each_adapted(model, layer, [&](const ParameterTensor& tensor, std::int64_t parts) {
        sum += rank * (tensor.rows + parts * tensor.columns) * tensor.count;
    });
    return sum;
}

std::int64_t adapter_tensors(const ModelSpec& model, const LayerSpec& layer) {
    std::int64_t sum = 0;
    each_adapted(model, layer, [&](const ParameterTensor& tensor, std::int64_t parts) {
        sum += 2 * parts * tensor.count;
    });
    return sum;
}

std::int64_t adapted_modules(const LayerSpec& layer) {
    constexpr std::int64_t kOfAttention = 4, kDown = 1;
    return kOfAttention + layer.feed_forward.projections() + kDown;
}

namespace {

/// x A^T, which both passes compute.
Kernel adapter_in(const AdaptedLinear& of, std::int64_t rank) {
    return gemm("adapter in", GemmRole::forward, of.rows, of.parts * rank, of.k, of.count);
}

void append_fused_backward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank,
                           bool again) {
    const auto& [rows, n, k, parts, count, added, below] = linear;
    const std::int64_t all = parts * count;
    if (again) kernels.push_back(adapter_in(linear, rank));
    kernels.push_back(gemm("gradient of B", GemmRole::weight_gradient, n / parts, rank, rows, all));
    kernels.push_back(
        gemm("adapter's gradient", GemmRole::input_gradient, rows, rank, n / parts, all));
    kernels.push_back(
        gemm("gradient of A", GemmRole::weight_gradient, parts * rank, k, rows, count));
    kernels.push_back(
        gemm("adapter out backward", GemmRole::input_gradient, rows, k, parts * rank, count));
}

}  // namespace

void append_adapter_forward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank,
                            KernelStyle style) {
    const auto& [rows, n, k, parts, count, added, below] = linear;
    if (style == KernelStyle::fused) {
        const Kernel out =
            gemm("adapter out", GemmRole::forward, rows, n / parts, rank, parts * count);
        kernels.push_back(adapter_in(linear, rank));
        kernels.push_back(linear.added ? with_addend(out) : out);
        return;
    }
    const std::int64_t all = parts * count;
    kernels.push_back(few_columns(GemmRole::forward, "adapter in", rows, rank, k, all));
    kernels.push_back(few_columns(GemmRole::forward, "adapter out", rows, n / parts, rank, all));
    kernels.push_back(
        memory_bound("adapter", (kScale + kAdd) * matrix_numbers(rows, n, count), 2 * all));
}

void append_adapter_backward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank,
                             KernelStyle style, bool again) {
    if (style == KernelStyle::fused) return append_fused_backward(kernels, linear, rank, again);
    const auto& [rows, n, k, parts, count, added, below] = linear;
    const std::int64_t all = parts * count;
    kernels.push_back(
        memory_bound("adapter's gradient", kScale * matrix_numbers(rows, n, count), all));
    kernels.push_back(
        few_columns(GemmRole::weight_gradient, "gradient of B", n / parts, rank, rows, all));
    kernels.push_back(
        few_columns(GemmRole::input_gradient, "input gradient", rows, rank, n / parts, all));
    kernels.push_back(few_columns(GemmRole::weight_gradient, "gradient of A", rank, k, rows, all));
    if (!below) return;
    kernels.push_back(few_columns(GemmRole::input_gradient, "input gradient", rows, k, rank, all));
    kernels.push_back(memory_bound(
        "input gradients added", kAdd * matrix_numbers(rows, k, count) * static_cast<double>(parts),
        parts * count));
}

}  // namespace sluice
