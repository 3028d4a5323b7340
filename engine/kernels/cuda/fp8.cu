// Casts to FP8: the largest number of a matrix, then its codes as they are and transposed.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/fp8_codes.cuh"
#include "engine/kernels/cuda/largest.cuh"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;       // of kernels that know no rows
constexpr int kLargestPackets = 8;  // of a thread
constexpr int kTileThreads = 512;
constexpr int kTileRows = 128, kTileColumns = 128;

/// The largest of 8 x packets numbers.
__global__ void __launch_bounds__(kThreads)
    largest_kernel(const Bf16* in, std::int64_t packets, Fp8Scale* scale) {
    const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kLargestPackets + threadIdx.x;
    Packet<8> read[kLargestPackets];  // 0 beyond the end
#pragma unroll
    for (int i = 0; i < kLargestPackets; ++i) {
        const std::int64_t packet = first + i * kThreads;
        if (packet < packets) read[i] = Packet<8>::load(in + 8 * packet);
    }
    unsigned largest = 0;
#pragma unroll
    for (const Packet<8>& packet : read) largest = packet.raise(largest);
    __shared__ unsigned parts[kMostWarps];
    raise_largest(largest, scale, parts);
}

/// Numbers in their order, 16 a thread.
template <DType kType>
__global__ void __launch_bounds__(kThreads)
    cast_kernel(const Bf16* in, std::int64_t sixteens, unsigned char* out, Fp8Scale* scale) {
    const float factor = factor_of<kType>(scale);
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= sixteens) return;
    const auto first = Packet<8>::load(in + 16 * i), second = Packet<8>::load(in + 16 * i + 8);
    const uint2 low = eight_codes<kType>(first, factor), high = eight_codes<kType>(second, factor);
    reinterpret_cast<uint4*>(out)[i] = make_uint4(low.x, low.y, high.x, high.y);
}

/// Numbers that become codes, and codes that are there.
template <DType kType>
struct Numbers {
    const Bf16* in;
    float factor;
    __device__ uint2 eight(std::int64_t at) const {
        return eight_codes<kType>(Packet<8>::load(in + at), factor);
    }
};
struct Codes {
    const unsigned char* in;
    __device__ uint2 eight(std::int64_t at) const {
        return *reinterpret_cast<const uint2*>(in + at);
    }
};

/// A block writes a tile; a thread 8 columns of 4 rows, which are whole: sizes are multiples of 16.
/// Through shared memory the transposed codes leave in pieces of 128 bytes. `out` may be null.
template <class Source>
__device__ void write_tile(Source in, std::int64_t rows, std::int64_t columns, unsigned char* out,
                           unsigned char* transposed) {
    // 4 rows of a column in a word; the odd length spreads columns over the banks.
    __shared__ unsigned tile[kTileColumns][kTileRows / 4 + 1];
    const std::int64_t first_row = std::int64_t{blockIdx.x} * kTileRows;
    const std::int64_t first_column = std::int64_t{blockIdx.y} * kTileColumns;
    constexpr int kGroups = kTileColumns / 8;
    static_assert(kTileThreads / kGroups == kTileRows / 4);
    const int group = static_cast<int>(threadIdx.x) % kGroups,
              quad = static_cast<int>(threadIdx.x) / kGroups;
    const std::int64_t row = first_row + 4 * quad, column = first_column + 8 * group;
    if (row < rows && column < columns) {
        uint2 codes[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) codes[r] = in.eight((row + r) * columns + column);
#pragma unroll
        for (int r = 0; r < 4; ++r)
            if (out != nullptr)
                *reinterpret_cast<uint2*>(out + (row + r) * columns + column) = codes[r];
#pragma unroll
        for (unsigned c = 0; c < 4; ++c) {
            tile[8 * group + c][quad] =
                byte_of_each(codes[0].x, codes[1].x, codes[2].x, codes[3].x, c);
            tile[8 * group + 4 + c][quad] =
                byte_of_each(codes[0].y, codes[1].y, codes[2].y, codes[3].y, c);
        }
    }
    __syncthreads();
    // 16 rows of a column are a piece of 16 bytes.
    for (int piece = static_cast<int>(threadIdx.x); piece < kTileColumns * kTileRows / 16;
         piece += kTileThreads) {
        const int part = piece % (kTileRows / 16), of = piece / (kTileRows / 16);
        const std::int64_t to_row = first_column + of, to_column = first_row + 16 * part;
        if (to_row >= columns || to_column >= rows) continue;
        const unsigned* const words = &tile[of][4 * part];
        *reinterpret_cast<uint4*>(transposed + to_row * rows + to_column) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
}

template <DType kType>
__global__ void __launch_bounds__(kTileThreads)
    cast_tile_kernel(const Bf16* in, std::int64_t rows, std::int64_t columns, unsigned char* out,
                     unsigned char* transposed, Fp8Scale* scale) {
    write_tile(Numbers<kType>{in, factor_of<kType>(scale)}, rows, columns, out, transposed);
}

__global__ void __launch_bounds__(kTileThreads)
    transpose_kernel(const unsigned char* in, std::int64_t rows, std::int64_t columns,
                     unsigned char* transposed) {
    write_tile(Codes{in}, rows, columns, nullptr, transposed);
}

dim3 tiles_of(const char* operation, const Matrix& in) {
    return {grid_of(operation, divide_up(in.rows, kTileRows)),
            grid_of(operation, divide_up(in.columns, kTileColumns))};
}

template <DType kType>
void launch_cast(const Kernels::Fp8Cast& cast, cudaStream_t stream) {
    const char* const operation = "cast_fp8";
    const Matrix& in = cast.in;
    auto *const out = static_cast<unsigned char*>(cast.out.data), *const transposed =
                                                                      static_cast<unsigned char*>(
                                                                          cast.transposed.data);
    if (transposed == nullptr) {
        const std::int64_t sixteens = in.elements() / 16;
        cast_kernel<kType>
            <<<grid_of(operation, divide_up(sixteens, kThreads)), kThreads, 0, stream>>>(
                bf16_data(in), sixteens, out, cast.scale);
    } else {
        cast_tile_kernel<kType><<<tiles_of(operation, in), kTileThreads, 0, stream>>>(
            bf16_data(in), in.rows, in.columns, out, transposed, cast.scale);
    }
    SLUICE_CHECK_CUDA(cudaGetLastError());
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
    if (!cast.measured) {
        clear_largest(cast.scale, stream_);
        const std::int64_t packets = in.elements() / 8;
        const std::int64_t blocks = divide_up(packets, kThreads * kLargestPackets);
        largest_kernel<<<grid_of(operation, blocks), kThreads, 0, stream_>>>(bf16_data(in), packets,
                                                                             cast.scale);
        SLUICE_CHECK_CUDA(cudaGetLastError());
    }
    const auto launch = type == DType::e4m3 ? launch_cast<DType::e4m3> : launch_cast<DType::e5m2>;
    launch(cast, stream_);
}

void CudaKernels::transpose_codes(Matrix out, Matrix in) {
    const char* const operation = "transpose_codes";
    require_fp8(compute_capability_, in);
    require(
        is_fp8(in.type) && out.type == in.type && out.rows == in.columns && out.columns == in.rows,
        operation, "codes of the matrix's size");
    for (const Matrix& m : {in, out})
        require(m.stride == m.columns && is_aligned(m.data), operation, "whole, aligned rows");
    transpose_kernel<<<tiles_of(operation, in), kTileThreads, 0, stream_>>>(
        static_cast<const unsigned char*>(in.data), in.rows, in.columns,
        static_cast<unsigned char*>(out.data));
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
