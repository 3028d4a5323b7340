// Casts to FP8: the largest number of a matrix, then its codes as they are and transposed.
#include <cuda_fp8.h>

#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kLargestThreads = 512;
constexpr int kCastThreads = 256;
constexpr int kTileRows = 128, kTileColumns = 64;

/// scale->largest = its maximum with all |values|, of which there are 8 x packets. Integers order
/// the bits of |bf16| as their values, infinity above all and NaN above it.
__global__ void __launch_bounds__(kLargestThreads)
    largest_kernel(const uint4* values, std::int64_t packets, Fp8Scale* scale) {
    unsigned largest = 0;  // two bf16
    const std::int64_t step = std::int64_t{gridDim.x} * kLargestThreads;
#pragma unroll 4
    for (std::int64_t i = std::int64_t{blockIdx.x} * kLargestThreads + threadIdx.x; i < packets;
         i += step) {
        const uint4 words = values[i];
        for (const unsigned word : {words.x, words.y, words.z, words.w})
            largest = __vmaxu2(largest, word & 0x7fff7fffU);
    }
    unsigned bits = max(largest << 16, largest & 0xffff0000U);  // as fp32
    for (int offset = kWarpThreads / 2; offset > 0; offset /= 2)
        bits = max(bits, __shfl_xor_sync(kAllLanes, bits, offset));
    __shared__ unsigned parts[kMostWarps];
    if (threadIdx.x % kWarpThreads == 0) parts[threadIdx.x / kWarpThreads] = bits;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int warp = 1; warp < kLargestThreads / kWarpThreads; ++warp) bits = max(bits, parts[warp]);
    atomicMax(&scale->largest, bits);
}

template <DType kType>
__device__ unsigned two_codes(float low, float high) {
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE,
                                    kType == DType::e4m3 ? __NV_E4M3 : __NV_E5M2);
}

/// A block casts a tile; a thread 8 columns of 4 rows, which are whole: sizes are multiples of 16.
/// Through shared memory the transposed codes leave in pieces of 128 bytes.
template <DType kType>
__global__ void __launch_bounds__(kCastThreads)
    cast_kernel(const Bf16* in, std::int64_t rows, std::int64_t columns, unsigned char* out,
                unsigned char* transposed, Fp8Scale* scale) {
    // 4 rows of a column in a word; the odd length spreads columns over the banks.
    __shared__ unsigned tile[kTileColumns][kTileRows / 4 + 1];
    const float factor = fp8_factor(scale->largest, kType);
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) scale->back = 1 / factor;
    const std::int64_t first_row = std::int64_t{blockIdx.x} * kTileRows;
    const std::int64_t first_column = std::int64_t{blockIdx.y} * kTileColumns;
    const int group = static_cast<int>(threadIdx.x) % 8, quad = static_cast<int>(threadIdx.x) / 8;
    const std::int64_t row = first_row + 4 * quad, column = first_column + 8 * group;
    if (row < rows && column < columns) {
        uint2 codes[4];
        Packet<8> packets[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) packets[r] = Packet<8>::load(in + (row + r) * columns + column);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            float values[8];
            packets[r].unpack(values);
#pragma unroll
            for (float& value : values) value *= factor;
            codes[r].x = two_codes<kType>(values[0], values[1]) |
                         two_codes<kType>(values[2], values[3]) << 16;
            codes[r].y = two_codes<kType>(values[4], values[5]) |
                         two_codes<kType>(values[6], values[7]) << 16;
            if (out != nullptr)
                *reinterpret_cast<uint2*>(out + (row + r) * columns + column) = codes[r];
        }
        if (transposed != nullptr) {
#pragma unroll
            for (int c = 0; c < 8; ++c) {
                unsigned word = 0;
#pragma unroll
                for (int r = 0; r < 4; ++r)
                    word |= ((c < 4 ? codes[r].x : codes[r].y) >> (8 * (c % 4)) & 0xffU) << (8 * r);
                tile[8 * group + c][quad] = word;
            }
        }
    }
    if (transposed == nullptr) return;
    __syncthreads();
    // 16 rows of a column are a piece of 16 bytes.
    for (int piece = static_cast<int>(threadIdx.x); piece < kTileColumns * kTileRows / 16;
         piece += kCastThreads) {
        const int part = piece % (kTileRows / 16), of = piece / (kTileRows / 16);
        const std::int64_t to_row = first_column + of, to_column = first_row + 16 * part;
        if (to_row >= columns || to_column >= rows) continue;
        const unsigned* const words = &tile[of][4 * part];
        *reinterpret_cast<uint4*>(transposed + to_row * rows + to_column) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
}

}  // namespace

void CudaKernels::cast_fp8(const Fp8Cast& cast) {
    const char* const operation = "cast_fp8";
    const Matrix& in = cast.in;
    const DType type = cast.out.present() ? cast.out.type : cast.transposed.type;
    const auto fits = [&](const Matrix& codes, std::int64_t rows, std::int64_t columns) {
        return !codes.present() ||
               (codes.type == type && codes.rows == rows && codes.columns == columns &&
                codes.stride == columns && is_aligned(codes.data));
    };
    require_fp8(compute_capability_, in);
    require_bf16(operation, "in", in, in.rows, in.columns);
    require(in.stride == in.columns && is_aligned(in.data), operation, "whole, aligned rows");
    require(is_fp8(type) && fits(cast.out, in.rows, in.columns) &&
                fits(cast.transposed, in.columns, in.rows),
            operation, "codes of the matrix's size");
    require(cast.scale != nullptr && is_aligned(cast.scale), operation, "a scale");
    SLUICE_CHECK_CUDA(cudaMemsetAsync(cast.scale, 0, sizeof(Fp8Scale), stream_));
    const std::int64_t packets = in.elements() / 8;
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(packets, 4 * kLargestThreads),
                                                       std::int64_t{4} * multiprocessors_);
    largest_kernel<<<grid_of(operation, blocks), kLargestThreads, 0, stream_>>>(
        static_cast<const uint4*>(in.data), packets, cast.scale);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    const dim3 tiles(grid_of(operation, divide_up(in.rows, kTileRows)),
                     grid_of(operation, divide_up(in.columns, kTileColumns)));
    const auto kernel = type == DType::e4m3 ? cast_kernel<DType::e4m3> : cast_kernel<DType::e5m2>;
    kernel<<<tiles, kCastThreads, 0, stream_>>>(
        bf16_data(in), in.rows, in.columns, static_cast<unsigned char*>(cast.out.data),
        static_cast<unsigned char*>(cast.transposed.data), cast.scale);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
