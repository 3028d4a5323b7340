// Rotary position embedding: a block takes a few tokens and computes each angle's sine and cosine
// once for all of their heads.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/rotary_frequencies.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;
// 4 x 32 heads x 8 packets of 8 pairs is 4 packets a thread for a head_dim of 128.
constexpr int kTokens = 4;  // of a block

struct Arguments {
    Bf16Rows qk;  // (tokens, heads x 2 x pairs), rotated in place
    std::int64_t tokens, sequence;
    int heads, pairs;  // of q and k together; head_dim / 2
    float direction;   // 1, or -1 to rotate back
    float frequencies[kMostRotaryPairs];
};

/// W pairs at a time; pairs % W == 0.
template <int W>
__global__ void __launch_bounds__(kThreads) rotary_kernel(const __grid_constant__ Arguments in) {
    __shared__ float2 turns[kTokens * kMostRotaryPairs];  // (tokens, pairs): cosine, sine
    const std::int64_t first = std::int64_t{blockIdx.x} * kTokens;
    for (int i = threadIdx.x; i < kTokens * in.pairs; i += kThreads) {
        const int token = i / in.pairs;
        const std::int64_t position = (first + token) % in.sequence;
        // Rounded to fp32 before sine and cosine, as transformers does.
        const float angle = static_cast<float>(position) * in.frequencies[i - token * in.pairs];
        float sine, cosine;
        sincosf(angle, &sine, &cosine);
        turns[i] = make_float2(cosine, in.direction * sine);
    }
    __syncthreads();
    const int packets = in.pairs / W;
    const int in_token = in.heads * packets;
    for (int i = threadIdx.x; i < kTokens * in_token; i += kThreads) {
        const int token = i / in_token;
        if (first + token >= in.tokens) break;
        const int head = (i - token * in_token) / packets;
        const int pair = W * (i - token * in_token - head * packets);
        Bf16* low = in.qk.row(first + token) + head * 2 * in.pairs + pair;
        Bf16* high = low + in.pairs;
        const Packet<W> low_packet = Packet<W>::load(low), high_packet = Packet<W>::load(high);
        float a[W], b[W];
        low_packet.unpack(a);
        high_packet.unpack(b);
#pragma unroll
        for (int j = 0; j < W; ++j) {
            const float2 turn = turns[token * in.pairs + pair + j];
            const float rotated = a[j] * turn.x - b[j] * turn.y;
            b[j] = b[j] * turn.x + a[j] * turn.y;
            a[j] = rotated;
        }
        Packet<W>::pack(a).store(low);
        Packet<W>::pack(b).store(high);
    }
}

}  // namespace

void CudaKernels::rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                         bool backward) {
    const char* const operation = "rotary";
    require_bf16(operation, "qkv", qkv, shape.tokens(), shape.qkv_width());
    const auto frequencies = rotary_frequencies(rotary, shape.head_dim);
    Arguments in{};
    in.qk = bf16_rows(qkv);
    in.tokens = shape.tokens();
    in.sequence = shape.sequence;
    in.heads = static_cast<int>(shape.heads + shape.kv_heads);
    in.pairs = static_cast<int>(shape.head_dim / 2);
    in.direction = backward ? -1.0F : 1.0F;
    for (int i = 0; i < in.pairs; ++i) in.frequencies[i] = frequencies[static_cast<std::size_t>(i)];
    const unsigned blocks = grid_of(operation, divide_up(in.tokens, kTokens));
    const bool wide = in.pairs % 8 == 0 && rows_are_aligned(qkv);
    const auto kernel = wide ? rotary_kernel<8> : rotary_kernel<1>;
    kernel<<<blocks, kThreads, 0, stream_>>>(in);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
