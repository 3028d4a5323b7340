// Cross-entropy and its gradient: a block a row of logits, read once for the softmax's denominator
// and once for the gradient. Between the two as much of the row as fits stays in shared memory; the
// rest (on Hopper 71 KB a block for a vocabulary of 152064) is small enough for L2.
#include <algorithm>
#include <cfloat>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kThreads = 1024;
constexpr int kBatch = 4;              // packets that a thread loads before it computes
constexpr int kReservedShared = 1024;  // for what the block itself keeps there

struct Arguments {
    Bf16Rows logits;
    const std::int32_t* targets;
    float* losses;  // (rows)
    int columns;
    int kept;  // packets of a row in shared memory
    float scale;
};

/// sum = sum of exp(value - max) over the values seen. Before the first, max is finite so that
/// max - max is 0.
struct Denominator {
    float max = -FLT_MAX, sum = 0;

    template <int W>
    __device__ void add(const float (&values)[W]) {
        float highest = max;
#pragma unroll
        for (int i = 0; i < W; ++i) highest = fmaxf(highest, values[i]);
        sum *= __expf(max - highest);
#pragma unroll
        for (int i = 0; i < W; ++i) sum += __expf(values[i] - highest);
        max = highest;
    }
    __device__ void add(Denominator other) {
        const float highest = fmaxf(max, other.max);
        sum = sum * __expf(max - highest) + other.sum * __expf(other.max - highest);
        max = highest;
    }
};

/// The sum over all threads' values, in a fixed order.
__device__ Denominator block_denominator(Denominator mine) {
    __shared__ float2 parts[kThreads / kWarpThreads];  // max, sum
    for (int offset = kWarpThreads / 2; offset > 0; offset /= 2) {
        Denominator other;
        other.max = __shfl_xor_sync(kAllLanes, mine.max, offset);
        other.sum = __shfl_xor_sync(kAllLanes, mine.sum, offset);
        mine.add(other);
    }
    if (threadIdx.x % kWarpThreads == 0)
        parts[threadIdx.x / kWarpThreads] = make_float2(mine.max, mine.sum);
    __syncthreads();
    Denominator all;
    for (const float2 part : parts) {
        Denominator other;
        other.max = part.x;
        other.sum = part.y;
        all.add(other);
    }
    return all;
}

/// The shared memory whose size the launch gives, as packets.
template <int W>
__device__ Packet<W>* shared_packets() {
    extern __shared__ uint4 shared[];
    return reinterpret_cast<Packet<W>*>(shared);
}

template <int W>
__device__ Denominator read_row(const Arguments& in, const Bf16* row) {
    Packet<W>* kept = shared_packets<W>();
    const int packets = in.columns / W;
    Denominator denominator;
    for (int first = threadIdx.x; first < packets; first += kBatch * kThreads) {
        Packet<W> batch[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int index = first + b * kThreads;
            if (index < packets) batch[b] = Packet<W>::load(row + std::int64_t{W} * index);
        }
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int index = first + b * kThreads;
            if (index >= packets) continue;
            if (index < in.kept) kept[index] = batch[b];
            float values[W];
            batch[b].unpack(values);
            denominator.add(values);
        }
    }
    return block_denominator(denominator);
}

/// row = scale (exp(row - log_sum) - onehot). Each thread processes the packets that it has kept.
template <int W>
__device__ void write_gradient(const Arguments& in, Bf16* row, float log_sum, int target) {
    const Packet<W>* kept = shared_packets<W>();
    const int packets = in.columns / W;
    for (int first = threadIdx.x; first < packets; first += kBatch * kThreads) {
        Packet<W> batch[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int index = first + b * kThreads;
            if (index >= packets) continue;
            batch[b] =
                index < in.kept ? kept[index] : Packet<W>::load(row + std::int64_t{W} * index);
        }
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int index = first + b * kThreads;
            if (index >= packets) continue;
            float values[W];
            batch[b].unpack(values);
#pragma unroll
            for (int i = 0; i < W; ++i) {
                const float hit = W * index + i == target ? 1.0F : 0.0F;
                values[i] = in.scale * (__expf(values[i] - log_sum) - hit);
            }
            Packet<W>::pack(values).store(row + std::int64_t{W} * index);
        }
    }
}

template <int W>
__global__ void __launch_bounds__(kThreads) cross_entropy_kernel(Arguments in) {
    Bf16* row = in.logits.row(blockIdx.x);
    const int target = in.targets[blockIdx.x];
    if (target < 0) {
        for (int index = threadIdx.x; index < in.columns / W; index += kThreads)
            Packet<W>{}.store(row + std::int64_t{W} * index);
        if (threadIdx.x == 0) in.losses[blockIdx.x] = 0;
        return;
    }
    const bool valid = target < in.columns;
    // Read here: behind the barrier in read_row another thread may already have overwritten it.
    const float target_logit = valid ? __bfloat162float(row[target]) : 0.0F;
    const Denominator denominator = read_row<W>(in, row);
    const float log_sum =
        valid ? denominator.max + logf(denominator.sum) : __int_as_float(0x7fffffff);
    write_gradient<W>(in, row, log_sum, target);
    if (threadIdx.x == 0) in.losses[blockIdx.x] = log_sum - target_logit;
}

}  // namespace

void CudaKernels::cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                                double* loss) {
    const char* const operation = "cross_entropy";
    require_bf16(operation, "logits", logits, logits.rows, logits.columns);
    require(targets != nullptr && loss != nullptr, operation, "targets and a loss");
    require(logits.rows * bytes_of(DType::fp32) <= scratch_.bytes, operation,
            "scratch for the loss of each row");
    Arguments in{bf16_rows(logits),
                 targets,
                 static_cast<float*>(scratch_.data),
                 static_cast<int>(logits.columns),
                 0,
                 scale};
    const unsigned blocks = grid_of(operation, logits.rows);
    if (logits.columns % 8 == 0 && rows_are_aligned(logits)) {
        constexpr int kBytes = sizeof(Packet<8>);
        in.kept = std::min(in.columns / 8,
                           std::max(0, shared_bytes_per_block_ - kReservedShared) / kBytes);
        SLUICE_CHECK_CUDA(cudaFuncSetAttribute(cross_entropy_kernel<8>,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               in.kept * kBytes));
        const auto shared = static_cast<std::size_t>(in.kept * kBytes);
        cross_entropy_kernel<8><<<blocks, kThreads, shared, stream_>>>(in);
    } else {
        cross_entropy_kernel<1><<<blocks, kThreads, 0, stream_>>>(in);
    }
    SLUICE_CHECK_CUDA(cudaGetLastError());
    add_sum(stream_, in.losses, logits.rows, static_cast<double>(scale), loss);
}

}  // namespace sluice
