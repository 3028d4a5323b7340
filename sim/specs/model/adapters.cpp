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

void append_adapter_forward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank) {
    const auto& [rows, n, k, parts, count] = linear;
    kernels.push_back(gemm("adapter in", GemmRole::forward, rows, rank, k, parts * count));
    kernels.push_back(gemm("adapter out", GemmRole::forward, rows, n / parts, rank, parts * count));
    kernels.push_back(memory_bound("adapter", (kScale + kAdd) * matrix_numbers(rows, n, count),
                                   2 * parts * count));
}

void append_adapter_backward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank) {
    const auto& [rows, n, k, parts, count] = linear;
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
