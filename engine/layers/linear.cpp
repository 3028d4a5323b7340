#include "engine/layers/linear.h"

namespace sluice {
namespace {

/// Codes of a matrix, in the order of its rows or of its columns.
struct Fp8Operand {
    Matrix codes, turned;
    Fp8Scale* scale = nullptr;
};

enum class Orders : std::uint8_t { rows, columns, both };

Fp8Operand cast(Kernels& kernels, Workspace& memory, Matrix in, DType type, Orders orders) {
    Fp8Operand out;
    out.scale = static_cast<Fp8Scale*>(memory.take(sizeof(Fp8Scale)));
    if (orders != Orders::columns) out.codes = memory.matrix(type, in.rows, in.columns);
    if (orders != Orders::rows) out.turned = memory.matrix(type, in.columns, in.rows);
    kernels.cast_fp8({in, out.codes, out.turned, out.scale});
    return out;
}

/// Gradients have the wider range of e5m2.
void linear_backward_fp8(Kernels& kernels, Workspace memory, const LinearGradient& g,
                         bool accumulate) {
    const Fp8Operand dy = cast(kernels, memory, g.dy, DType::e5m2, Orders::both);
    const Fp8Operand x = cast(kernels, memory, g.x, DType::e4m3, Orders::columns);
    const Fp8Operand weight = cast(kernels, memory, g.weight, DType::e4m3, Orders::columns);
    kernels.gemm({.d = g.dweight,
                  .a = dy.turned,
                  .b = x.turned,
                  .transpose_b = Transpose::yes,
                  .accumulate = accumulate,
                  .scale_a = dy.scale,
                  .scale_b = x.scale});
    kernels.gemm({.d = g.dx,
                  .a = dy.codes,
                  .b = weight.turned,
                  .transpose_b = Transpose::yes,
                  .scale_a = dy.scale,
                  .scale_b = weight.scale});
}

}  // namespace

void linear(Kernels& kernels, Workspace operands, const Linear& l) {
    Kernels::Product product{.d = l.y,
                             .a = l.x,
                             .b = l.weight,
                             .transpose_b = Transpose::yes,
                             .addend = l.addend,
                             .bias = l.bias};
    if (operands.present()) {
        const Fp8Operand x = cast(kernels, operands, l.x, DType::e4m3, Orders::rows);
        const Fp8Operand weight = cast(kernels, operands, l.weight, DType::e4m3, Orders::rows);
        product.a = x.codes, product.scale_a = x.scale;
        product.b = weight.codes, product.scale_b = weight.scale;
    }
    kernels.gemm(product);
}

void linear_backward(Kernels& kernels, Workspace operands, const LinearGradient& g,
                     bool accumulate) {
    if (operands.present()) return linear_backward_fp8(kernels, operands, g, accumulate);
    kernels.gemm({.d = g.dweight,
                  .a = g.dy,
                  .b = g.x,
                  .transpose_a = Transpose::yes,
                  .accumulate = accumulate});
    // Last, since dx may replace x.
    kernels.gemm({.d = g.dx, .a = g.dy, .b = g.weight});
}

}  // namespace sluice
