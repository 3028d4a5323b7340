#include "sim/specs/model/layer_products.h"

namespace sluice {

void ProductKernels::cast(KernelList& out, std::int64_t rows, std::int64_t columns,
                          std::int64_t count, int orders, Known known) const {
    if (!fp8() || known == Known::codes) return;
    const double elements = static_cast<double>(rows * count) * static_cast<double>(columns);
    out.push_back(cast_to_fp8(elements, orders, known == Known::nothing));
}

void ProductKernels::cast_weight(KernelList& out, const Kernel& product) const {
    if (precision_.weights == WeightCodes::kept || precision_.weights == WeightCodes::arrive)
        return;
    if (precision_.decoded_from > 0)
        out.push_back(
            memory_bound("weights to bf16", (precision_.decoded_from + kBf16) *
                                                static_cast<double>(product.n * product.count) *
                                                static_cast<double>(product.k)));
    const int orders = precision_.weights == WeightCodes::for_step ? 2 : 1;
    cast(out, product.n, product.k, product.count, orders,
         precision_.weights == WeightCodes::again ? Known::largest : Known::nothing);
}

void ProductKernels::transpose_weight(KernelList& out, const Kernel& product) const {
    if (fp8() && precision_.weights == WeightCodes::arrive)
        out.push_back(transpose_codes(static_cast<double>(product.n * product.count) *
                                      static_cast<double>(product.k)));
}

void ProductKernels::forward(KernelList& out, const Kernel& product, Known x) const {
    cast(out, product.m, product.k, product.count, 1, x);
    cast_weight(out, product);
    out.push_back(fp8() ? in_fp8(product) : product);
}

void ProductKernels::backward(KernelList& out, const Kernel& product, Known dy, Known x,
                              bool adapted) const {
    const std::int64_t m = product.m, n = product.n, k = product.k, count = product.count;
    const Kernel plain_input = gemm("input gradient", GemmRole::input_gradient, m, k, n, count);
    const Kernel input = adds_ && adapted ? with_addend(plain_input) : plain_input;
    const Kernel plain = gemm("weight gradient", GemmRole::weight_gradient, n, k, m, count);
    const bool apart = rounded_ && count > 1;
    const Kernel weights = sums_gradients_ && !apart ? with_addend(plain) : plain;
    cast(out, m, n, count, frozen_ ? 1 : 2, dy);
    if (!frozen_) cast(out, m, k, count, 1, x);
    cast_weight(out, product);
    transpose_weight(out, product);
    out.push_back(fp8() ? in_fp8(input) : input);
    if (frozen_) return;
    out.push_back(fp8() ? in_fp8(weights) : weights);
    if (sums_gradients_ && apart)
        out.push_back(memory_bound(
            "gradient sums",
            (kBf16 + 2.0 * kFp32) * static_cast<double>(n * count) * static_cast<double>(k)));
}

Kernel ProductKernels::swiglu_backward(std::int64_t rows, std::int64_t width) const {
    // As of casts: 13 bytes an element are moved with gate and up in 8 bits, 17 with 16.
    constexpr double kOfEightBits = 16.2, kOfBf16 = 18.2;
    constexpr std::int64_t kLaunches = 4;  // with those that clear the scales
    const double elements = static_cast<double>(rows) * static_cast<double>(width);
    const double bytes = precision_.gate_up_bits == 8 ? kOfEightBits : kOfBf16;
    return writes_codes("activation in FP8", bytes * elements, kLaunches);
}

}  // namespace sluice
