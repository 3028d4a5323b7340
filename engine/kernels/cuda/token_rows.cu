// The rows of the token embedding: gathered for a batch, their gradients summed by row.
#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kThreads = 128;
constexpr int kBatch = 8;  // tokens whose gradients a thread loads before it adds them

template <int W>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(Bf16Rows out, const Bf16* table, const std::int32_t* tokens,
                  std::int64_t columns) {
    const Bf16* const from = table + std::int64_t{tokens[blockIdx.x]} * columns;
    Bf16* const to = out.row(blockIdx.x);
    for (std::int64_t c = std::int64_t{threadIdx.x} * W; c < columns; c += kThreads * W)
        Packet<W>::load(from + c).store(to + c);
}

/// Adds the gradients of the row's tokens at `column` and the W - 1 columns after it, in their
/// order.
template <int W>
__device__ void add_tokens(const RowTokens& row, const std::int32_t* order, Bf16Rows gradients,
                           std::int64_t column, float (&sum)[W]) {
    for (std::int32_t first = row.begin; first < row.end; first += kBatch) {
        Packet<W> batch[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b)
            if (first + b < row.end)
                batch[b] = Packet<W>::load(gradients.row(order[first + b]) + column);
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            if (first + b >= row.end) continue;
            float value[W];
            batch[b].unpack(value);
#pragma unroll
            for (int i = 0; i < W; ++i) sum[i] += value[i];
        }
    }
}

/// A block has kThreads x W columns of a row: blockIdx.x is the row, blockIdx.y which columns.
/// partial: what each block adds to the square of the norm.
template <int W>
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(float* sums, Bf16Rows gradients, std::int64_t columns, TokenRows rows,
                    const Bf16* head_gradient, double* partial) {
    __shared__ BlockSum<double, 1> block_sum;
    const RowTokens row = rows.rows[blockIdx.x];
    const std::int64_t column = (std::int64_t{blockIdx.y} * kThreads + threadIdx.x) * W;
    double square[1] = {0};
    if (column < columns) {
        const std::int64_t place = std::int64_t{row.row} * columns + column;
        float sum[W] = {};
        add_tokens<W>(row, rows.order, gradients, column, sum);
        float head[W] = {};
        if (head_gradient != nullptr) Packet<W>::load(head_gradient + place).unpack(head);
#pragma unroll
        for (int i = 0; i < W; ++i) {
            sums[place + i] = sum[i];
            const double all = double{head[i]} + double{sum[i]};
            square[0] += all * all - double{head[i]} * double{head[i]};
        }
    }
    block_sum(square);
    if (threadIdx.x == 0) partial[std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = square[0];
}

}  // namespace

void CudaKernels::gather_rows(Matrix out, const std::uint16_t* table, const std::int32_t* tokens) {
    const char* const operation = "gather_rows";
    require_bf16(operation, "out", out, out.rows, out.columns);
    const bool wide = out.columns % 8 == 0 && rows_are_aligned(out) && is_aligned(table);
    const auto kernel = wide ? gather_kernel<8> : gather_kernel<1>;
    kernel<<<grid_of(operation, out.rows), kThreads, 0, stream_>>>(
        bf16_rows(out), reinterpret_cast<const Bf16*>(table), tokens, out.columns);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::sum_rows(float* sums, Matrix gradients, const TokenRows& rows,
                           const std::uint16_t* head_gradient, double* norm_square) {
    const char* const operation = "sum_rows";
    require_bf16(operation, "gradients", gradients, gradients.rows, gradients.columns);
    const std::int64_t columns = gradients.columns;
    const bool wide = columns % 8 == 0 && rows_are_aligned(gradients) && is_aligned(head_gradient);
    const std::int64_t pieces = divide_up(columns, kThreads * (wide ? 8 : 1));
    const std::int64_t parts = rows.count * pieces;
    require(parts * static_cast<std::int64_t>(sizeof(double)) <= scratch_.bytes, operation,
            "scratch for a partial sum of each row's pieces");
    auto* const partial = static_cast<double*>(scratch_.data);
    const dim3 grid(grid_of(operation, rows.count), grid_of(operation, pieces));
    const auto kernel = wide ? sum_rows_kernel<8> : sum_rows_kernel<1>;
    kernel<<<grid, kThreads, 0, stream_>>>(sums, bf16_rows(gradients), columns, rows,
                                           reinterpret_cast<const Bf16*>(head_gradient), partial);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    add_sum(stream_, partial, parts, 1, norm_square);
}

}  // namespace sluice
