// Dropout of a matrix: 8 numbers a thread, whose bits follow from their place.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;

struct Rows {
    std::int64_t columns, in_stride, out_stride, first_row;
};

template <int W>
__global__ void __launch_bounds__(kThreads)
    dropout_kernel(const Bf16* in, Bf16* out, std::int64_t packets, Rows rows, std::uint64_t seed,
                   std::uint32_t threshold, float factor) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= packets) return;
    const std::int64_t of_a_row = rows.columns / W, row = i / of_a_row, column = W * (i % of_a_row);
    const auto first = static_cast<std::uint64_t>((rows.first_row + row) * rows.columns + column);
    float values[W];
    Packet<W>::load(in + row * rows.in_stride + column).unpack(values);
#pragma unroll
    for (int w = 0; w < W; ++w)
        values[w] = dropout_bits(seed, first + static_cast<std::uint64_t>(w)) < threshold
                        ? 0
                        : values[w] * factor;
    Packet<W>::pack(values).store(out + row * rows.out_stride + column);
}

}  // namespace

void CudaKernels::dropout(Matrix out, Matrix in, const Dropout& dropout) {
    const char* const operation = "dropout";
    require_bf16(operation, "in", in, in.rows, in.columns);
    require_bf16(operation, "out", out, in.rows, in.columns);
    const Rows rows{in.columns, in.stride, out.stride, dropout.first_row};
    const auto run = [&](auto kernel, int width) {
        const std::int64_t packets = in.elements() / width;
        kernel<<<grid_of(operation, divide_up(packets, kThreads)), kThreads, 0, stream_>>>(
            static_cast<const Bf16*>(in.data), static_cast<Bf16*>(out.data), packets, rows,
            dropout.seed, dropout.threshold(), dropout.factor());
    };
    if (in.columns % 8 == 0 && rows_are_aligned(in) && rows_are_aligned(out))
        run(dropout_kernel<8>, 8);
    else
        run(dropout_kernel<1>, 1);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
