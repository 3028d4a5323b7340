// RMSNorm of each head of q and k: a head is shared by neighbouring lanes of a warp, with no
// barrier.
#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;
constexpr int kMostHeadDim = 256;
constexpr int kBlocksAtOnce = 4;  // on a multiprocessor, in the backward pass

/// The query or the key heads of all tokens; a data pointer stands at the first of them.
struct Heads {
    Bf16Rows data;      // forward: normed in place; backward: dy, overwritten by dx
    Bf16Rows unnormed;  // forward: where x goes (or null); backward: x
    const Bf16* weight;
    float* dweight;      // backward: (gridDim.x, head_dim)
    std::int64_t count;  // tokens x heads, below 2^31
    int heads, head_dim;
    int lanes;  // that share a head: a power of two
    float epsilon;
};

/// A thread's packets of one head: packet lane + n x lanes, n < N, of W elements.
template <int W, int N>
struct Place {
    std::int64_t index, groups;  // of the head among all; heads that the grid takes at once
    int lane;

    __device__ explicit Place(const Heads& in) {
        const int in_block = static_cast<int>(threadIdx.x) / in.lanes;
        const int per_block = static_cast<int>(blockDim.x) / in.lanes;
        index = std::int64_t{blockIdx.x} * per_block + in_block;
        groups = std::int64_t{gridDim.x} * per_block;
        lane = static_cast<int>(threadIdx.x) % in.lanes;
    }
    __device__ int column(const Heads& in, int n) const { return W * (lane + n * in.lanes); }
    __device__ bool has(const Heads& in, int n) const {
        return index < in.count && column(in, n) < in.head_dim;
    }
    __device__ Bf16* at(const Heads& in, Bf16Rows rows, int n) const {
        // 32 bits: a 64-bit division takes as long as the memory access.
        const auto token = static_cast<unsigned>(index) / static_cast<unsigned>(in.heads);
        const int head = static_cast<int>(index) - static_cast<int>(token) * in.heads;
        return rows.row(token) + head * in.head_dim + column(in, n);
    }
};

template <int W, int N>
__global__ void __launch_bounds__(kThreads) head_norm_kernel(Heads in) {
    const Place<W, N> place(in);
    Packet<W> x[N];
    float squares = 0;
#pragma unroll
    for (int n = 0; n < N; ++n) {
        if (!place.has(in, n)) continue;
        x[n] = Packet<W>::load(place.at(in, in.data, n));
        if (in.unnormed.data != nullptr) x[n].store(place.at(in, in.unnormed, n));
        float value[W];
        x[n].unpack(value);
#pragma unroll
        for (int i = 0; i < W; ++i) squares += value[i] * value[i];
    }
    squares = group_sum(squares, in.lanes);
    const float inverse_rms = rsqrtf(squares / static_cast<float>(in.head_dim) + in.epsilon);
#pragma unroll
    for (int n = 0; n < N; ++n) {
        if (!place.has(in, n)) continue;
        float value[W], weight[W];
        x[n].unpack(value);
        Packet<W>::load(in.weight + place.column(in, n)).unpack(weight);
#pragma unroll
        for (int i = 0; i < W; ++i) value[i] *= inverse_rms * weight[i];
        Packet<W>::pack(value).store(place.at(in, in.data, n));
    }
}

/// As in rms_norm_backward.cu, for one head; adds to dweight.
template <int W, int N>
__device__ void head_backward(const Heads& in, const Place<W, N>& place,
                              const float (&weight)[N][W], float (&dweight)[N][W]) {
    float x[N][W] = {}, dy[N][W] = {};
    float squares = 0, product = 0;
#pragma unroll
    for (int n = 0; n < N; ++n) {
        if (!place.has(in, n)) continue;
        Packet<W>::load(place.at(in, in.unnormed, n)).unpack(x[n]);
        Packet<W>::load(place.at(in, in.data, n)).unpack(dy[n]);
#pragma unroll
        for (int i = 0; i < W; ++i) {
            squares += x[n][i] * x[n][i];
            product += dy[n][i] * weight[n][i] * x[n][i];
        }
    }
    const float count = static_cast<float>(in.head_dim);
    const float inverse_rms = rsqrtf(group_sum(squares, in.lanes) / count + in.epsilon);
    const float of_x =
        inverse_rms * inverse_rms * inverse_rms * (group_sum(product, in.lanes) / count);
#pragma unroll
    for (int n = 0; n < N; ++n) {
        float dx[W];
#pragma unroll
        for (int i = 0; i < W; ++i) {
            const float scaled = dy[n][i] * inverse_rms;
            dweight[n][i] += scaled * x[n][i];
            dx[i] = scaled * weight[n][i] - of_x * x[n][i];
        }
        if (place.has(in, n)) Packet<W>::pack(dx).store(place.at(in, in.data, n));
    }
}

template <int W, int N>
__global__ void __launch_bounds__(kThreads) head_norm_backward_kernel(Heads in) {
    __shared__ float sums[kThreads * N * W];  // (groups of the block, head_dim)
    Place<W, N> place(in);
    float weight[N][W] = {}, dweight[N][W] = {};
#pragma unroll
    for (int n = 0; n < N; ++n) {
        if (place.column(in, n) < in.head_dim)
            Packet<W>::load(in.weight + place.column(in, n)).unpack(weight[n]);
    }
    // All lanes of a warp repeat as often as its first group, which starts first.
    const std::int64_t ahead = (threadIdx.x % kWarpThreads) / in.lanes;
    for (; place.index - ahead < in.count; place.index += place.groups)
        head_backward(in, place, weight, dweight);

    const int group = static_cast<int>(threadIdx.x) / in.lanes;
#pragma unroll
    for (int n = 0; n < N; ++n) {
        const int column = place.column(in, n);
        if (column >= in.head_dim) continue;
#pragma unroll
        for (int i = 0; i < W; ++i) sums[group * in.head_dim + column + i] = dweight[n][i];
    }
    __syncthreads();
    const int groups = static_cast<int>(blockDim.x) / in.lanes;
    for (int column = threadIdx.x; column < in.head_dim; column += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < groups; ++i) sum += sums[i * in.head_dim + column];
        in.dweight[std::int64_t{blockIdx.x} * in.head_dim + column] = sum;
    }
}

/// Groups of lanes for heads of `head_dim`: 8 elements a lane where `aligned`, else every 32nd.
int lanes_for(std::int64_t head_dim, bool aligned) {
    if (!aligned) return kWarpThreads;
    int lanes = 1;
    while (lanes * 8 < head_dim) lanes *= 2;
    return lanes;
}

/// The query heads of a matrix whose rows start with them, or the key heads behind them.
Heads heads_of(const AttentionShape& shape, bool keys, Matrix data, Matrix unnormed, Vector weight,
               float epsilon) {
    Heads heads{};
    const std::int64_t first_column = keys ? shape.query_width() : 0;
    heads.data = {bf16_data(data) + first_column, data.stride};
    if (unnormed.present()) heads.unnormed = {bf16_data(unnormed) + first_column, unnormed.stride};
    heads.weight = bf16_data(weight);
    heads.heads = static_cast<int>(keys ? shape.kv_heads : shape.heads);
    heads.count = shape.tokens() * heads.heads;
    heads.head_dim = static_cast<int>(shape.head_dim);
    heads.epsilon = epsilon;
    return heads;
}

/// Checks the arguments; returns whether all heads may be read 16 bytes at a time.
bool check(const char* operation, const AttentionShape& shape, Matrix data, Matrix unnormed,
           Vector query_weight, Vector key_weight) {
    require_bf16(operation, "qkv", data, shape.tokens(), shape.qkv_width());
    require_bf16(operation, "query weight", query_weight, shape.head_dim);
    require_bf16(operation, "key weight", key_weight, shape.head_dim);
    require(shape.head_dim <= kMostHeadDim, operation, "head_dim up to 256");
    require(shape.tokens() * shape.heads < std::int64_t{1} << 31, operation,
            "fewer than 2^31 heads of all tokens together");
    if (unnormed.present()) {
        require_bf16(operation, "unnormed", unnormed, shape.tokens(),
                     shape.query_width() + shape.key_width());
    }
    return shape.head_dim % 8 == 0 && rows_are_aligned(data) &&
           (!unnormed.present() || rows_are_aligned(unnormed)) && is_aligned(query_weight.data) &&
           is_aligned(key_weight.data);
}

}  // namespace

void CudaKernels::head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight,
                            Vector key_weight, float epsilon, Matrix unnormed) {
    const char* const operation = "head_norm";
    const bool aligned = check(operation, shape, qkv, unnormed, query_weight, key_weight);
    for (const bool keys : {false, true}) {
        Heads in = heads_of(shape, keys, qkv, unnormed, keys ? key_weight : query_weight, epsilon);
        in.lanes = lanes_for(shape.head_dim, aligned);
        const unsigned blocks = grid_of(operation, divide_up(in.count, kThreads / in.lanes));
        const auto kernel =
            aligned ? head_norm_kernel<8, 1> : head_norm_kernel<1, kMostHeadDim / kWarpThreads>;
        kernel<<<blocks, kThreads, 0, stream_>>>(in);
        SLUICE_CHECK_CUDA(cudaGetLastError());
    }
}

void CudaKernels::head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                                     Vector query_weight, Vector key_weight, float epsilon,
                                     Vector dquery_weight, Vector dkey_weight, bool accumulate) {
    const char* const operation = "head_norm_backward";
    require(unnormed.present(), operation, "unnormed q and k");
    for (const auto& [name, dweight] :
         {std::pair{"dquery_weight", dquery_weight}, std::pair{"dkey_weight", dkey_weight}})
        if (dweight.present()) require_gradient(operation, name, dweight, shape.head_dim);
    const bool aligned = check(operation, shape, dqkv, unnormed, query_weight, key_weight);
    for (const bool keys : {false, true}) {
        Heads in = heads_of(shape, keys, dqkv, unnormed, keys ? key_weight : query_weight, epsilon);
        in.lanes = lanes_for(shape.head_dim, aligned);
        in.dweight = static_cast<float*>(scratch_.data);
        const std::int64_t wanted = std::min<std::int64_t>(divide_up(in.count, kThreads / in.lanes),
                                                           multiprocessors_ * kBlocksAtOnce);
        const std::int64_t parts = partial_rows(operation, scratch_, wanted, shape.head_dim);
        const unsigned blocks = grid_of(operation, parts);
        const auto kernel = aligned ? head_norm_backward_kernel<8, 1>
                                    : head_norm_backward_kernel<1, kMostHeadDim / kWarpThreads>;
        kernel<<<blocks, kThreads, 0, stream_>>>(in);
        SLUICE_CHECK_CUDA(cudaGetLastError());
        const Vector dweight = keys ? dkey_weight : dquery_weight;
        if (dweight.present()) sum_partials(stream_, in.dweight, parts, dweight, accumulate);
    }
}

}  // namespace sluice
