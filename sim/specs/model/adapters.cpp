#include "sim/specs/model/adapters.h"

#include "sim/specs/model/module_experts.h"

namespace sluice {
namespace {

double matrix_numbers(std::int64_t rows, std::int64_t columns, std::int64_t count) {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(count);
}

// Elementwise: the adapter's result is scaled (read, written) and added (two read, one written).
constexpr double kScale = 2.0 * kBf16, kAdd = 3.0 * kBf16;

}  // namespace

std::int64_t adapter_parameters(const ModelSpec& model, const LayerSpec& layer, std::int64_t rank) {
    std::int64_t sum = 0;
    for (const ParameterTensor& tensor : layer_tensors(model, layer)) {
        const bool stacked = tensor.count > 1 && experts_are_stacked(layer.feed_forward);
        if (tensor.columns == 1 || stacked) continue;
        const auto parts = static_cast<std::int64_t>(tensor.rows_of_parts().size());
        sum += rank * (tensor.rows + parts * tensor.columns) * tensor.count;
    }
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
    const auto& [rows, n, k, parts, count, added] = linear;
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
    const auto& [rows, n, k, parts, count, added] = linear;
    if (style == KernelStyle::fused) {
        const Kernel out =
            gemm("adapter out", GemmRole::forward, rows, n / parts, rank, parts * count);
        kernels.push_back(adapter_in(linear, rank));
        kernels.push_back(linear.added ? with_addend(out) : out);
        return;
    }
    kernels.push_back(gemm("adapter in", GemmRole::forward, rows, rank, k, parts * count));
    kernels.push_back(gemm("adapter out", GemmRole::forward, rows, n / parts, rank, parts * count));
    kernels.push_back(memory_bound("adapter", (kScale + kAdd) * matrix_numbers(rows, n, count),
                                   2 * parts * count));
}

void append_adapter_backward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank,
                             KernelStyle style, bool again) {
    if (style == KernelStyle::fused) return append_fused_backward(kernels, linear, rank, again);
    const auto& [rows, n, k, parts, count, added] = linear;
    const std::int64_t all = parts * count;
    kernels.push_back(
        memory_bound("adapter's gradient", kScale * matrix_numbers(rows, n, count), parts * count));
    kernels.push_back(gemm("gradient of B", GemmRole::weight_gradient, n / parts, rank, rows, all));
    kernels.push_back(gemm("input gradient", GemmRole::input_gradient, rows, rank, n / parts, all));
    kernels.push_back(gemm("gradient of A", GemmRole::weight_gradient, rank, k, rows, all));
    kernels.push_back(gemm("input gradient", GemmRole::input_gradient, rows, k, rank, all));
    kernels.push_back(memory_bound(
        "input gradients added", kAdd * matrix_numbers(rows, k, count) * static_cast<double>(parts),
        parts * count));
}

}  // namespace sluice
