#include "engine/kernels/token_rows.h"

#include <algorithm>

#include "sim/base/units.h"

namespace sluice {
namespace {

void add_row(float* sum, const Matrix& row, std::int64_t begin, std::int64_t end) {
    if (row.type == DType::fp32) {
        const auto* const values = static_cast<const float*>(row.data);
        for (std::int64_t c = begin; c < end; ++c) sum[c] += values[c];
        return;
    }
    const auto* const values = static_cast<const std::uint16_t*>(row.data);
    for (std::int64_t c = begin; c < end; ++c) sum[c] += bf16_to_float(values[c]);
}

}  // namespace

void copy_row(const Matrix& to, const std::uint16_t* from) {
    if (to.type == DType::bf16)
        std::copy_n(from, to.columns, static_cast<std::uint16_t*>(to.data));
    else
        std::transform(from, from + to.columns, static_cast<float*>(to.data), bf16_to_float);
}

double sum_row(float* sum, const RowTokens& row, const std::int32_t* order, std::int64_t begin,
               std::int64_t end, const Matrix& gradients, const std::uint16_t* head_gradient) {
    std::fill(sum + begin, sum + end, 0.0F);
    for (std::int32_t t = row.begin; t < row.end; ++t)
        add_row(sum, gradients.row_range(order[t], 1), begin, end);
    double square = 0;
    for (std::int64_t c = begin; c < end; ++c) {
        const double head = head_gradient == nullptr ? 0 : bf16_to_float(head_gradient[c]);
        const double all = head + static_cast<double>(sum[c]);
        square += all * all - head * head;
    }
    return square;
}

}  // namespace sluice
