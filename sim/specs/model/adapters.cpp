#include "sim/specs/model/adapters.h"

#include <algorithm>
#include <string_view>
#include <vector>

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

/// The targets that a tensor of layer_tensors() joins, in the order of its parts; those of others,
/// as of a router or of latent attention, count where any is a target.
std::vector<AdapterTargets> targets_of(const LayerSpec& layer, const ParameterTensor& tensor) {
    const std::string_view name = tensor.name;
    if (name == "attention.qkv") return {kQuery, kKey, kValue};
    if (name == "attention.output") return {kOutput};
    if (name == "feed_forward.gate_up")
        return layer.feed_forward.gated ? std::vector{kGate, kUp} : std::vector{kUp};
    if (name == "feed_forward.down") return {kDown};
    return {name.starts_with("attention") ? kQkv : kAllTargets};
}

/// Calls `use(tensor, rows)` for each tensor that has adapters, with the rows of each linear layer
/// in it that has them.
template <typename Use>
void each_adapted(const ModelSpec& model, const LayerSpec& layer, const AdapterShape& adapters,
                  Use use) {
    for (const ParameterTensor& tensor : layer_tensors(model, layer)) {
        const bool stacked = tensor.count > 1 && experts_are_stacked(layer.feed_forward);
        if (tensor.columns == 1 || stacked) continue;
        const std::vector<AdapterTargets> targets = targets_of(layer, tensor);
        const std::vector<std::int64_t> parts = tensor.rows_of_parts();
        std::vector<std::int64_t> rows;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (adapters.has(targets[std::min(i, targets.size() - 1)])) rows.push_back(parts[i]);
        if (!rows.empty()) use(tensor, rows);
    }
}

}  // namespace

std::int64_t adapter_parameters(const ModelSpec& model, const LayerSpec& layer,
                                const AdapterShape& adapters) {
    std::int64_t sum = 0;
    each_adapted(model, layer, adapters, [&](const ParameterTensor& tensor, const auto& rows) {
        for (const std::int64_t of_part : rows)
            sum += adapters.rank * (of_part + tensor.columns) * tensor.count;
    });
    return sum;
}

std::int64_t adapter_tensors(const ModelSpec& model, const LayerSpec& layer,
                             const AdapterShape& adapters) {
    std::int64_t sum = 0;
    each_adapted(model, layer, adapters, [&](const ParameterTensor& tensor, const auto& rows) {
        sum += 2 * std::ssize(rows) * tensor.count;
    });
    return sum;
}

std::int64_t adapted_modules(const LayerSpec& layer, const AdapterShape& adapters) {
    return adapters.count(layer.feed_forward.gated ? kAllTargets : kAllTargets & ~kGate);
}

namespace {

/// Some numbers of x are left out: it is read and written. In peft each module does so, which keeps
/// a mask of a byte a number; backward reads it in place of writing it.
void append_dropout(KernelList& kernels, const AdaptedLinear& of, const AdapterShape& adapters,
                    KernelStyle style) {
    if (adapters.dropout_percent == 0) return;
    constexpr double kMask = 1;
    const bool fused = style == KernelStyle::fused;
    const std::int64_t kernels_of_it = fused ? of.count : of.parts * of.count;
    kernels.push_back(memory_bound(
        "adapter's dropout",
        (2.0 * kBf16 + (fused ? 0 : kMask)) * matrix_numbers(of.rows, of.k, kernels_of_it),
        kernels_of_it));
}

/// x A^T, which both passes compute.
Kernel adapter_in(const AdaptedLinear& of, std::int64_t rank) {
    return gemm("adapter in", GemmRole::forward, of.rows, of.parts * rank, of.k, of.count);
}

void append_fused_backward(KernelList& kernels, const AdaptedLinear& linear, std::int64_t rank,
                           bool again) {
    const auto& [rows, n, k, parts, count, added, below, whole] = linear;
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

void append_adapter_forward(KernelList& kernels, const AdaptedLinear& linear,
                            const AdapterShape& adapters, KernelStyle style) {
    const std::int64_t rank = adapters.rank;
    append_dropout(kernels, linear, adapters, style);
    const auto& [rows, n, k, parts, count, added, below, whole] = linear;
    if (style == KernelStyle::fused) {
        const Kernel out =
            gemm("adapter out", GemmRole::forward, rows, n / parts, rank, parts * count);
        kernels.push_back(adapter_in(linear, rank));
        kernels.push_back(added || !linear.whole ? with_addend(out) : out);
        return;
    }
    const std::int64_t all = parts * count;
    kernels.push_back(few_columns(GemmRole::forward, "adapter in", rows, rank, k, all));
    kernels.push_back(few_columns(GemmRole::forward, "adapter out", rows, n / parts, rank, all));
    kernels.push_back(
        memory_bound("adapter", (kScale + kAdd) * matrix_numbers(rows, n, count), 2 * all));
}

void append_adapter_backward(KernelList& kernels, const AdaptedLinear& linear,
                             const AdapterShape& adapters, KernelStyle style, bool again) {
    const std::int64_t rank = adapters.rank;
    append_dropout(kernels, linear, adapters, style);
    // Fused, what A reads is made again, and what it gives x loses the same numbers.
    if (style == KernelStyle::fused) append_dropout(kernels, linear, adapters, style);
    if (style == KernelStyle::fused) return append_fused_backward(kernels, linear, rank, again);
    const auto& [rows, n, k, parts, count, added, below, whole] = linear;
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
