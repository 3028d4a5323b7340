// NF4 to bf16: 16 numbers a thread, whose two roundings are those of the CPU.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kThreads = 256, kNumbers = 16;  // of a thread

struct Nf4Tables {
    float dynamic[256], numbers[16];
};

__device__ Nf4Tables nf4_tables;

/// A number of the tensor.
__device__ Bf16 decoded(const float* numbers, unsigned code, float scale) {
    return __float2bfloat16_rn(__fmul_rn(numbers[code], scale));
}

__global__ void __launch_bounds__(kThreads)
    decode_kernel(const unsigned char* codes, const unsigned char* scales, const float* largest,
                  const float* mean, std::int64_t elements, Bf16* out) {
    __shared__ Nf4Tables tables;
    static_assert(kThreads == 256);
    tables.dynamic[threadIdx.x] = nf4_tables.dynamic[threadIdx.x];
    if (threadIdx.x < 16) tables.numbers[threadIdx.x] = nf4_tables.numbers[threadIdx.x];
    __syncthreads();
    const std::int64_t first = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kNumbers;
    if (first >= elements) return;
    const std::int64_t block = first / kNf4Block;
    const float above = __fmul_rn(tables.dynamic[scales[block]], largest[block / kNf4Scales]);
    const float scale = __fadd_rn(above, *mean);
    if (first + kNumbers <= elements) {
        const uint2 eight = *reinterpret_cast<const uint2*>(codes + first / 2);
        const unsigned words[2] = {eight.x, eight.y};
#pragma unroll
        for (int w = 0; w < 2; ++w) {
            float values[8];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const unsigned pair = words[w] >> (8 * i);
                values[2 * i] = __fmul_rn(tables.numbers[pair >> 4 & 15U], scale);
                values[2 * i + 1] = __fmul_rn(tables.numbers[pair & 15U], scale);
            }
            Packet<8>::pack(values).store(out + first + 8 * w);
        }
        return;
    }
    for (std::int64_t i = first; i < elements; ++i) {
        const unsigned pair = codes[i / 2];
        out[i] = decoded(tables.numbers, i % 2 == 0 ? pair >> 4 : pair & 15U, scale);
    }
}

/// Before the kernels that follow on the stream.
void upload_nf4_tables(cudaStream_t stream) {
    static const Nf4Tables kTables = [] {
        Nf4Tables tables{};
        for (std::size_t i = 0; i < 256; ++i) tables.dynamic[i] = dynamic_numbers()[i];
        for (std::size_t i = 0; i < 16; ++i) tables.numbers[i] = kNf4Numbers[i];
        return tables;
    }();
    SLUICE_CHECK_CUDA(cudaMemcpyToSymbolAsync(nf4_tables, &kTables, sizeof kTables, 0,
                                              cudaMemcpyHostToDevice, stream));
}

}  // namespace

void CudaKernels::decode_nf4(Matrix out, const Nf4Tensor& in) {
    const char* const operation = "decode_nf4";
    require_bf16(operation, "out", out, out.rows, out.columns);
    require(out.elements() == in.elements && out.stride == out.columns, operation,
            "a matrix of the tensor's size");
    require(is_aligned(out.data) && is_aligned(in.block), operation, "whole, aligned rows");
    if (!has_nf4_tables_) upload_nf4_tables(stream_);
    has_nf4_tables_ = true;
    const std::int64_t blocks = divide_up(in.elements, kThreads * kNumbers);
    decode_kernel<<<grid_of(operation, blocks), kThreads, 0, stream_>>>(
        in.codes(), in.scales(), in.largest(), in.mean(), in.elements,
        static_cast<Bf16*>(out.data));
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice
