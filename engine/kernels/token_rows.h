// Which tokens of a batch have which row of the embedding, and what is the sum of their gradients?
#pragma once

#include <cstdint>

#include "engine/kernels/matrix.h"

namespace sluice {

/// A row of the table and its tokens: [begin, end) of the tokens in the order of their rows.
struct RowTokens {
    std::int32_t row = 0;
    std::int32_t begin = 0, end = 0;
};

/// The rows of the table that a batch uses.
struct TokenRows {
    const RowTokens* rows = nullptr;
    std::int64_t count = 0;
    const std::int32_t* order = nullptr;  ///< tokens grouped by row, in order
};

/// A row of bf16 in the type of `to`, a matrix of one row.
void copy_row(const Matrix& to, const std::uint16_t* from);

/// The pieces of a sum over the columns of a row.
inline constexpr std::int64_t kRowPiece = 256;

/// Columns [begin, end) of the sum of a row's gradients, in the order of its tokens, in fp32.
/// `gradients` (tokens, columns); `head_gradient` is bf16 of this row, or null. Returns the
/// increase of the square of the norm, in which `head_gradient` is already counted.
double sum_row(float* sum, const RowTokens& row, const std::int32_t* order, std::int64_t begin,
               std::int64_t end, const Matrix& gradients, const std::uint16_t* head_gradient);

}  // namespace sluice
