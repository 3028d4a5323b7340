// Gradient of a bias: sums of columns. A block takes a strip of columns over a part of the rows.
#include <algorithm>

#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kPackets = 32;      // of a strip: a warp reads 512 neighbouring bytes
constexpr int kLanes = 8;         // rows that a block reads at a time
constexpr int kBatch = 4;         // rows that a thread loads before it adds
constexpr int kBlocksAtOnce = 4;  // on a multiprocessor

/// partial (gridDim.y, columns) = sums of the columns over rows_per_part rows each.
template <int W>
__global__ void __launch_bounds__(kPackets* kLanes)
    column_sums_kernel(Bf16Rows dy, std::int64_t rows, int columns, std::int64_t rows_per_part,
                       float* partial) {
    __shared__ float sums[kLanes][kPackets * W];
    const int column = static_cast<int>((blockIdx.x * kPackets + threadIdx.x) * W);
    const std::int64_t first = blockIdx.y * rows_per_part;
    const std::int64_t last = first + rows_per_part < rows ? first + rows_per_part : rows;
    float sum[W] = {};
    for (std::int64_t row = first + threadIdx.y; row < last && column < columns;
         row += kBatch * kLanes) {
        Packet<W> batch[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            if (row + b * kLanes < last)
                batch[b] = Packet<W>::load(dy.row(row + b * kLanes) + column);
        }
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            float values[W];
            batch[b].unpack(values);  // 0 beyond the last row
#pragma unroll
            for (int i = 0; i < W; ++i) sum[i] += values[i];
        }
    }
#pragma unroll
    for (int i = 0; i < W; ++i) sums[threadIdx.y][threadIdx.x * W + i] = sum[i];
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.y * kPackets + threadIdx.x);
    const int strip = static_cast<int>(blockIdx.x) * kPackets * W;
    for (int i = thread; i < kPackets * W && strip + i < columns; i += kPackets * kLanes) {
        float total = 0;
        for (int lane = 0; lane < kLanes; ++lane) total += sums[lane][i];
        partial[std::int64_t{blockIdx.y} * columns + strip + i] = total;
    }
}

}  // namespace

void CudaKernels::bias_backward(Vector dbias, Matrix dy, bool accumulate) {
    const char* const operation = "bias_backward";
    require_bf16(operation, "dy", dy, dy.rows, dy.columns);
    require_gradient(operation, "dbias", dbias, dy.columns);
    const bool aligned = dy.columns % 8 == 0 && rows_are_aligned(dy);
    const std::int64_t strips = divide_up(dy.columns, kPackets * (aligned ? 8 : 1));
    constexpr std::int64_t kMostParts = 65535;  // CUDA's limit of gridDim.y
    const std::int64_t wanted =
        std::min({divide_up(dy.rows, kBatch * kLanes),
                  divide_up(multiprocessors_ * kBlocksAtOnce, strips), kMostParts});
    const std::int64_t fit = partial_rows(operation, scratch_, wanted, dy.columns);
    const std::int64_t rows_per_part = divide_up(dy.rows, fit);
    const std::int64_t parts = divide_up(dy.rows, rows_per_part);  // none empty
    auto* const partial = static_cast<float*>(scratch_.data);
    const dim3 blocks(grid_of(operation, strips), static_cast<unsigned>(parts));
    const dim3 threads(kPackets, kLanes);
    const auto kernel = aligned ? column_sums_kernel<8> : column_sums_kernel<1>;
    kernel<<<blocks, threads, 0, stream_>>>(bf16_rows(dy), dy.rows, static_cast<int>(dy.columns),
                                            rows_per_part, partial);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    sum_partials(stream_, partial, parts, dbias, accumulate);
}

}  // namespace sluice
