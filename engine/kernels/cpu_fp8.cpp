#include <algorithm>
#include <bit>

#include "engine/kernels/cpu_tensors.h"

namespace sluice::cpu {
namespace {

at::Tensor row_of(const Matrix& in, std::int64_t row) { return fp32(view(in.row_range(row, 1))); }

}  // namespace

void measure_fp8(const Matrix& in, Fp8Scale* scale) {
    scale->largest = 0;
    for (std::int64_t r = 0; r < in.rows; ++r) {
        const at::Tensor row = row_of(in, r);
        for (std::int64_t c = 0; c < in.columns; ++c)
            scale->largest = std::max(
                scale->largest,
                std::bit_cast<std::uint32_t>(row.const_data_ptr<float>()[c]) & 0x7fffffffU);
    }
}

void cast_fp8(const Kernels::Fp8Cast& cast) {
    const Matrix& in = cast.in;
    const Matrix& out = cast.out.present() ? cast.out : cast.transposed;
    const auto fits = [&](const Matrix& codes, std::int64_t rows, std::int64_t columns) {
        return !codes.present() ||
               (codes.type == out.type && codes.rows == rows && codes.columns == columns);
    };
    require(is_fp8(out.type) && !is_fp8(in.type) && fits(cast.out, in.rows, in.columns) &&
                fits(cast.transposed, in.columns, in.rows),
            "cast_fp8", "codes of the matrix's size");
    if (!cast.measured) measure_fp8(in, cast.scale);
    const float factor = fp8_factor(cast.scale->largest, out.type);
    cast.scale->back = 1 / factor;
    const auto store_code = [](const Matrix& codes, std::int64_t row, std::int64_t column,
                               std::uint8_t code) {
        if (codes.present())
            static_cast<std::uint8_t*>(codes.data)[row * codes.stride + column] = code;
    };
    for (std::int64_t r = 0; r < in.rows; ++r) {
        const at::Tensor row = row_of(in, r);
        for (std::int64_t c = 0; c < in.columns; ++c) {
            const std::uint8_t code = to_fp8(row.const_data_ptr<float>()[c] * factor, out.type);
            store_code(cast.out, r, c, code);
            store_code(cast.transposed, c, r, code);
        }
    }
}

void transpose_codes(const Matrix& out, const Matrix& in) {
    require(
        is_fp8(in.type) && out.type == in.type && out.rows == in.columns && out.columns == in.rows,
        "transpose_codes", "codes of the matrix's size");
    const auto* const from = static_cast<const std::uint8_t*>(in.data);
    auto* const to = static_cast<std::uint8_t*>(out.data);
    for (std::int64_t r = 0; r < in.rows; ++r)
        for (std::int64_t c = 0; c < in.columns; ++c)
            to[c * out.stride + r] = from[r * in.stride + c];
}

}  // namespace sluice::cpu
