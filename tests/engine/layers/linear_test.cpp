#include "engine/layers/linear.h"

#include <ATen/ATen.h>

#include "tests/engine/layers/float64_comparison.h"

using namespace sluice;

namespace {

/// The share of `expected` by which `actual` is off, both in their root of mean squares.
double error(const at::Tensor& actual, const at::Tensor& expected) {
    return (actual.to(at::kDouble) - expected).norm().item<double>() /
           expected.norm().item<double>();
}

}  // namespace

TEST_CASE("linear: products in FP8 and their gradients differ by the rounding of operands",
          "[layers]") {
    at::manual_seed(3);
    const std::int64_t tokens = 96, in = 80, out = 64;
    const at::Tensor x = at::randn({tokens, in}), weight = 0.02 * at::randn({out, in}),
                     dy = 1e-5 * at::randn({tokens, out}), addend = at::randn({tokens, out}),
                     y = unwritten(DType::fp32, {tokens, out}),
                     dweight = at::ones({out, in}) * 1e-3,
                     dx = unwritten(DType::fp32, {tokens, in});
    std::vector<char> memory(1 << 16);
    const Workspace operands(memory.data(), static_cast<Bytes>(memory.size()));
    linear(kernels(), operands,
           {matrix_of(y), {matrix_of(x)}, {matrix_of(weight)}, matrix_of(addend), {}});
    LinearBackward backward_of(kernels(), operands, {matrix_of(dy)});
    backward_of.weight(matrix_of(dweight), {matrix_of(x)}, true);
    backward_of.input(matrix_of(dx), {matrix_of(weight)});
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
    // A number moves by 2^-4 of itself at most in e4m3, 2^-3 in e5m2. Errors of both operands add
    // up as those of terms with random signs, and so do the terms.
    const double forward = std::sqrt(2.0) * 0x1p-4, backward = std::hypot(0x1p-4, 0x1p-3);
    const double least = 0x1p-7;  // in bf16 the errors would be smaller than that
    const double of_y = error(y - addend, at::mm(wide(x), wide(weight).t()));
    CHECK((least < of_y && of_y < forward));
    const double of_dx = error(dx, at::mm(wide(dy), wide(weight)));
    CHECK((least < of_dx && of_dx < backward));
    const double of_dweight = error(dweight - 1e-3, at::mm(wide(dy).t(), wide(x)));
    CHECK((least < of_dweight && of_dweight < backward));
}

TEST_CASE("linear: a tensor that is cast once gives the same gradients", "[layers]") {
    at::manual_seed(4);
    const at::Tensor x = at::randn({32, 48}), weight = at::randn({64, 48}),
                     dy = at::randn({32, 64});
    std::vector<char> memory(1 << 16);
    const Workspace all(memory.data(), static_cast<Bytes>(memory.size()));
    const auto products = [&](Workspace operands, const Operand& in, const Operand& of_weight) {
        const at::Tensor dweight = at::zeros({64, 48}), dx = unwritten(DType::fp32, {32, 48});
        LinearBackward back(kernels(), operands, {matrix_of(dy)});
        back.weight(matrix_of(dweight), in, true);
        back.input(matrix_of(dx), of_weight);
        return at::cat({dweight.flatten(), dx.flatten()});
    };
    Workspace operands = all;
    const Operand once = cast_columns_once(kernels(), operands, {matrix_of(x)}),
                  weight_once = cast_columns_once(kernels(), operands, {matrix_of(weight)});
    const at::Tensor cast = products(operands, once, weight_once),
                     each = products(all, {matrix_of(x)}, {matrix_of(weight)}),
                     bf16 = products({}, {matrix_of(x)}, {matrix_of(weight)});
    CHECK(cast.equal(each));
    CHECK_FALSE(cast.equal(bf16));
    Workspace none;
    CHECK(products({}, cast_columns_once(kernels(), none, {matrix_of(x)}), {matrix_of(weight)})
              .equal(bf16));
}
