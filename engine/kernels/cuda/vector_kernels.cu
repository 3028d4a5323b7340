// Kernels on whole vectors, independent of their meaning: the sum of squares, fp32 to bf16.
#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kThreads = 512;
constexpr int kBatch = 4;         // packets that a thread loads before it computes
constexpr int kBlocksAtOnce = 4;  // on a multiprocessor: 2048 threads

/// 16 bytes of a vector of either type, or one element.
template <typename Value, int W>
struct Chunk;

template <int W>
struct Chunk<Bf16, W> {
    Packet<W> packet;
    static __device__ Chunk load(const Bf16* data) { return {Packet<W>::load(data)}; }
    __device__ void unpack(float (&values)[W]) const { packet.unpack(values); }
};
template <>
struct Chunk<float, 4> {
    float4 packet{};
    static __device__ Chunk load(const float* data) {
        return {*reinterpret_cast<const float4*>(data)};
    }
    __device__ void unpack(float (&values)[4]) const {
        values[0] = packet.x, values[1] = packet.y, values[2] = packet.z, values[3] = packet.w;
    }
};
template <>
struct Chunk<float, 1> {
    float packet{};
    static __device__ Chunk load(const float* data) { return {*data}; }
    __device__ void unpack(float (&values)[1]) const { values[0] = packet; }
};

/// partial[blockIdx.x] = the block's share of the sum of squares. fp32 within a batch, of 32
/// elements at most, then fp64. Where W > 1 the last size % W elements are left out.
template <typename Value, int W>
__global__ void __launch_bounds__(kThreads)
    sum_squares_kernel(const Value* values, std::int64_t size, double* partial) {
    __shared__ BlockSum<double, 1> block_sum;
    const std::int64_t chunks = size / W;
    const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
    double total[1] = {0};
    for (std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; first < chunks;
         first += kBatch * step) {
        Chunk<Value, W> batch[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            if (first + b * step < chunks)
                batch[b] = Chunk<Value, W>::load(values + W * (first + b * step));
        }
        float sum = 0;
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            float value[W];
            batch[b].unpack(value);  // 0 beyond the end
#pragma unroll
            for (int i = 0; i < W; ++i) sum += value[i] * value[i];
        }
        total[0] += static_cast<double>(sum);
    }
    block_sum(total);
    if (threadIdx.x == 0) partial[blockIdx.x] = total[0];
}

/// Launches for chunks of W elements and returns the count of partial sums.
template <typename Value, int W>
std::int64_t sum_squares_parts(cudaStream_t stream, const Value* values, std::int64_t size,
                               std::int64_t most_blocks, double* partial) {
    const std::int64_t wanted = divide_up(size / W, kBatch * kThreads);
    const std::int64_t blocks = std::clamp<std::int64_t>(wanted, 1, most_blocks);
    sum_squares_kernel<Value, W>
        <<<grid_of("sum_squares", blocks), kThreads, 0, stream>>>(values, size, partial);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    return blocks;
}

/// The same, in chunks of 16 bytes for most of an aligned vector.
template <typename Value>
std::int64_t sum_squares_parts(cudaStream_t stream, Vector vector, std::int64_t most_blocks,
                               double* partial) {
    constexpr int kWide = 16 / sizeof(Value);
    const auto* values = static_cast<const Value*>(vector.data);
    const std::int64_t wide = is_aligned(values) ? vector.size - vector.size % kWide : 0;
    std::int64_t parts = 0;
    if (wide > 0)
        parts = sum_squares_parts<Value, kWide>(stream, values, wide, most_blocks, partial);
    if (wide < vector.size) {
        parts += sum_squares_parts<Value, 1>(stream, values + wide, vector.size - wide, most_blocks,
                                             partial + parts);
    }
    return parts;
}

/// 8 elements a thread where `wide`, else one.
template <bool kWide>
__global__ void __launch_bounds__(kThreads)
    round_kernel(Bf16* out, const float* in, std::int64_t size) {
    constexpr int kElements = kWide ? 8 : 1;
    const std::int64_t first =
        (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * std::int64_t{kElements};
    if (first + kElements <= size) {
        if constexpr (kWide) {
            const auto low = Chunk<float, 4>::load(in + first).packet;
            const auto high = Chunk<float, 4>::load(in + first + 4).packet;
            const float values[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
            Packet<8>::pack(values).store(out + first);
        } else {
            out[first] = __float2bfloat16_rn(in[first]);
        }
        return;
    }
    for (std::int64_t i = first; i < size; ++i) out[i] = __float2bfloat16_rn(in[i]);
}

}  // namespace

void CudaKernels::sum_squares(Vector values, double* sum) {
    const char* const operation = "sum_squares";
    require_gradient(operation, "values", values, values.size);
    require(sum != nullptr, operation, "a sum");
    // At most two launches' partial sums lie one behind the other.
    const std::int64_t most_blocks =
        std::min<std::int64_t>(multiprocessors_ * kBlocksAtOnce,
                               scratch_.bytes / static_cast<std::int64_t>(2 * sizeof(double)));
    auto* const partial = static_cast<double*>(scratch_.data);
    const std::int64_t parts =
        values.type == DType::bf16
            ? sum_squares_parts<Bf16>(stream_, values, most_blocks, partial)
            : sum_squares_parts<float>(stream_, values, most_blocks, partial);
    add_sum(stream_, partial, parts, 1, sum);
}

void CudaKernels::round_to_bf16(Vector out, Vector in) {
    const char* const operation = "round_to_bf16";
    require_gradient(operation, "in", in, in.size);
    require(in.type == DType::fp32, operation, "fp32 input");
    require_bf16(operation, "out", out, in.size);
    const auto* const values = static_cast<const float*>(in.data);
    const bool aligned = is_aligned(out.data) && is_aligned(in.data);
    const unsigned blocks = grid_of(operation, divide_up(in.size, kThreads * (aligned ? 8 : 1)));
    const auto kernel = aligned ? round_kernel<true> : round_kernel<false>;
    kernel<<<blocks, kThreads, 0, stream_>>>(bf16_data(out), values, in.size);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
