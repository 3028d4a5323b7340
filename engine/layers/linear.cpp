#include "engine/layers/linear.h"

namespace sluice {
namespace {

enum class Orders : std::uint8_t { rows, columns, both };

Fp8Scale* take_scale(Workspace& memory) {
    return static_cast<Fp8Scale*>(memory.take(sizeof(Fp8Scale)));
}

CastOperand cast(Kernels& kernels, Workspace& memory, Operand in, DType type, Orders orders) {
    if (in.codes.scale != nullptr) {
        const Matrix& rows = in.codes.rows;
        if (orders == Orders::columns && !in.codes.columns.present()) {
            in.codes.columns = memory.matrix(type, rows.columns, rows.rows);
            kernels.transpose_codes(in.codes.columns, rows);
        }
        return in.codes;
    }
    const Matrix& values = in.read(kernels);
    auto* const scale = in.scale != nullptr ? in.scale : take_scale(memory);
    CastOperand out{.scale = scale};
    if (orders != Orders::columns) out.rows = memory.matrix(type, values.rows, values.columns);
    if (orders != Orders::rows) out.columns = memory.matrix(type, values.columns, values.rows);
    kernels.cast_fp8({values, out.rows, out.columns, scale, in.scale != nullptr && in.measured});
    return out;
}

}  // namespace

Operand cast_columns_once(Kernels& kernels, Workspace& operands, Operand in) {
    if (operands.present()) in.codes = cast(kernels, operands, in, DType::e4m3, Orders::columns);
    return in;
}

SwigluCodes take_swiglu_codes(Workspace& operands, std::int64_t tokens, std::int64_t width) {
    return {.gradient = operands.matrix(DType::e5m2, tokens, 2 * width),
            .gradient_columns = operands.matrix(DType::e5m2, 2 * width, tokens),
            .product_columns = operands.matrix(DType::e4m3, width, tokens),
            .gradient_scale = take_scale(operands),
            .product_scale = take_scale(operands)};
}

void linear(Kernels& kernels, Workspace operands, const Linear& l) {
    if (const CastOperand& codes = l.weight.codes; l.weight.casts_first)
        kernels.cast_fp8({l.weight.values, codes.rows, codes.columns, codes.scale});
    ProductAdapters adapters = l.adapters;
    if (adapters.whole()) adapters.forward(kernels, l.y, l.x.values, l.addend);
    Kernels::Product product{.d = l.y,
                             .a = l.x.values,
                             .b = operands.present() ? Matrix{} : l.weight.read(kernels),
                             .transpose_b = Transpose::yes,
                             .addend = adapters.whole() ? l.y : l.addend,
                             .bias = l.bias};
    if (operands.present()) {
        const CastOperand x = cast(kernels, operands, l.x, DType::e4m3, Orders::rows);
        const CastOperand weight = cast(kernels, operands, l.weight, DType::e4m3, Orders::rows);
        product.a = x.rows, product.scale_a = x.scale;
        product.b = weight.rows, product.scale_b = weight.scale;
    }
    kernels.gemm(product);
    if (!adapters.whole()) adapters.forward(kernels, l.y, l.x.values, l.y);
}

/// Gradients have the wider range of e5m2.
LinearBackward::LinearBackward(Kernels& kernels, Workspace operands, Operand dy,
                               ProductAdapters adapters, bool frozen)
    : kernels_(kernels),
      operands_(operands),
      dy_(operands.present()
              ? cast(kernels, operands_, dy, DType::e5m2, frozen ? Orders::rows : Orders::both)
              : CastOperand{dy.values, {}, nullptr}),
      adapters_(adapters) {
    adapters_.begin_backward(kernels_, dy.values);
}

void LinearBackward::weight(Matrix dweight, Operand x, bool accumulate) {
    adapters_.gradients(kernels_, x.values, accumulate);
    if (!dweight.present()) return;
    if (!operands_.present())
        return kernels_.gemm({.d = dweight,
                              .a = dy_.rows,
                              .b = x.values,
                              .transpose_a = Transpose::yes,
                              .accumulate = accumulate});
    const Bytes mark = operands_.used();
    const CastOperand codes = cast(kernels_, operands_, x, DType::e4m3, Orders::columns);
    kernels_.gemm({.d = dweight,
                   .a = dy_.columns,
                   .b = codes.columns,
                   .transpose_b = Transpose::yes,
                   .accumulate = accumulate,
                   .scale_a = dy_.scale,
                   .scale_b = codes.scale});
    operands_.rewind(mark);
}

void LinearBackward::input(Matrix dx, Operand weight) {
    adapters_.input(kernels_, dx);
    const Matrix addend = adapters_.present() ? dx : Matrix{};
    if (!operands_.present())
        return kernels_.gemm(
            {.d = dx, .a = dy_.rows, .b = weight.read(kernels_), .addend = addend});
    const Bytes mark = operands_.used();
    const CastOperand codes = cast(kernels_, operands_, weight, DType::e4m3, Orders::columns);
    kernels_.gemm({.d = dx,
                   .a = dy_.rows,
                   .b = codes.columns,
                   .transpose_b = Transpose::yes,
                   .addend = addend,
                   .scale_a = dy_.scale,
                   .scale_b = codes.scale});
    operands_.rewind(mark);
}

}  // namespace sluice
