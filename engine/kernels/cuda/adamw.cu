// AdamW on parameters in device memory: the arithmetic of engine/optimizer/adamw_kernel.h on
// vectors of eight elements a thread, so that the GPU gives the processor's bits.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/require.h"
#include "engine/optimizer/adamw_kernel.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;

/// The vectors: 16 bytes of each 16-bit plane are read and written at once. No operation is
/// contracted with another, as none is on the processor.
struct Eight {
    static constexpr int kWidth = 8;
    struct Float {
        float at[kWidth];
    };
    struct Bits {
        std::uint32_t at[kWidth];
    };

    template <class Out, class Of>
    static __device__ __forceinline__ Out each(Of of) {
        Out out;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) out.at[i] = of(i);
        return out;
    }
    static __device__ Float floats(auto of) { return each<Float>(of); }
    static __device__ Bits bits(auto of) { return each<Bits>(of); }

    static __device__ Float set(float x) {
        return floats([=](int) { return x; });
    }
    static __device__ Bits set_bits(std::uint32_t x) {
        return bits([=](int) { return x; });
    }
    static __device__ Bits lanes() {
        return bits([](int i) { return static_cast<std::uint32_t>(i); });
    }
    static __device__ Float load(const float* from) {
        const float4 low = reinterpret_cast<const float4*>(from)[0];
        const float4 high = reinterpret_cast<const float4*>(from)[1];
        return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    }
    static __device__ void store(float* to, const Float& x) {
        reinterpret_cast<float4*>(to)[0] = {x.at[0], x.at[1], x.at[2], x.at[3]};
        reinterpret_cast<float4*>(to)[1] = {x.at[4], x.at[5], x.at[6], x.at[7]};
    }
    static __device__ Bits load_u16(const std::uint16_t* from) {
        const uint4 two = *reinterpret_cast<const uint4*>(from);
        const std::uint32_t words[4] = {two.x, two.y, two.z, two.w};
        return bits([&](int i) { return words[i / 2] >> (16 * (i % 2)) & 0xffffU; });
    }
    static __device__ Bits load_i16(const std::uint16_t* from) {
        const Bits x = load_u16(from);
        return bits(
            [&](int i) { return static_cast<std::uint32_t>(static_cast<std::int16_t>(x.at[i])); });
    }
    static __device__ Bits load_u8(const std::uint8_t* from) {
        const uint2 four = *reinterpret_cast<const uint2*>(from);
        const std::uint32_t words[2] = {four.x, four.y};
        return bits([&](int i) { return words[i / 4] >> (8 * (i % 4)) & 0xffU; });
    }
    static __device__ Bits load_i8(const std::int8_t* from) {
        const Bits x = load_u8(reinterpret_cast<const std::uint8_t*>(from));
        return bits(
            [&](int i) { return static_cast<std::uint32_t>(static_cast<std::int8_t>(x.at[i])); });
    }
    static __device__ void store_16(std::uint16_t* to, const Bits& x) {
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) words[i] = (x.at[2 * i] & 0xffffU) | x.at[2 * i + 1] << 16;
        *reinterpret_cast<uint4*>(to) = {words[0], words[1], words[2], words[3]};
    }
    static __device__ void store_8(void* to, const Bits& x) {
        std::uint32_t words[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < kWidth; ++i) words[i / 4] |= (x.at[i] & 0xffU) << (8 * (i % 4));
        *static_cast<uint2*>(to) = {words[0], words[1]};
    }

    static __device__ Float as_float(const Bits& x) {
        return floats([&](int i) { return __uint_as_float(x.at[i]); });
    }
    static __device__ Bits as_bits(const Float& x) {
        return bits([&](int i) { return __float_as_uint(x.at[i]); });
    }
    static __device__ Float to_float(const Bits& x) {
        return floats([&](int i) { return __int2float_rn(static_cast<int>(x.at[i])); });
    }
    static __device__ Bits to_bits(const Float& x) {  // toward zero
        return bits([&](int i) { return static_cast<std::uint32_t>(__float2int_rz(x.at[i])); });
    }

    static __device__ Float add(const Float& a, const Float& b) {
        return floats([&](int i) { return __fadd_rn(a.at[i], b.at[i]); });
    }
    static __device__ Float sub(const Float& a, const Float& b) {
        return floats([&](int i) { return __fsub_rn(a.at[i], b.at[i]); });
    }
    static __device__ Float mul(const Float& a, const Float& b) {
        return floats([&](int i) { return __fmul_rn(a.at[i], b.at[i]); });
    }
    static __device__ Float div(const Float& a, const Float& b) {
        return floats([&](int i) { return __fdiv_rn(a.at[i], b.at[i]); });
    }
    static __device__ Float fma(const Float& a, const Float& b, const Float& c) {
        return floats([&](int i) { return __fmaf_rn(a.at[i], b.at[i], c.at[i]); });
    }
    static __device__ Float fms(const Float& a, const Float& b, const Float& c) {
        return floats([&](int i) { return __fmaf_rn(a.at[i], b.at[i], -c.at[i]); });
    }
    static __device__ Float sqrt(const Float& x) {
        return floats([&](int i) { return __fsqrt_rn(x.at[i]); });
    }
    static __device__ float root(float x) { return __fsqrt_rn(x); }
    static __device__ Float absolute(const Float& x) {
        return floats([&](int i) { return fabsf(x.at[i]); });
    }
    static __device__ Float larger(const Float& a, const Float& b) {
        return floats([&](int i) { return a.at[i] > b.at[i] ? a.at[i] : b.at[i]; });
    }
    static __device__ Float with_sign_of(const Float& magnitude, const Float& x) {
        return floats([&](int i) { return copysignf(magnitude.at[i], x.at[i]); });
    }
    static __device__ Float if_less(const Float& a, const Float& b, const Float& yes,
                                    const Float& no) {
        return floats([&](int i) { return a.at[i] < b.at[i] ? yes.at[i] : no.at[i]; });
    }
    static __device__ float largest_lane(const Float& x) {
        float largest = x.at[0];
#pragma unroll
        for (int i = 1; i < kWidth; ++i) largest = x.at[i] > largest ? x.at[i] : largest;
        return largest;
    }

    static __device__ Bits plus(const Bits& a, const Bits& b) {
        return bits([&](int i) { return a.at[i] + b.at[i]; });
    }
    static __device__ Bits minus(const Bits& a, const Bits& b) {
        return bits([&](int i) { return a.at[i] - b.at[i]; });
    }
    static __device__ Bits times(const Bits& a, const Bits& b) {
        return bits([&](int i) { return a.at[i] * b.at[i]; });
    }
    static __device__ Bits bits_and(const Bits& a, const Bits& b) {
        return bits([&](int i) { return a.at[i] & b.at[i]; });
    }
    static __device__ Bits bits_xor(const Bits& a, const Bits& b) {
        return bits([&](int i) { return a.at[i] ^ b.at[i]; });
    }
    template <int n>
    static __device__ Bits shift_left(const Bits& x) {
        return bits([&](int i) { return x.at[i] << n; });
    }
    template <int n>
    static __device__ Bits shift_right(const Bits& x) {
        return bits([&](int i) { return x.at[i] >> n; });
    }
};

/// Elements [begin, end) of a block whose arrays begin at element 0.
struct Range {
    AdamWConstants constants;
    AdamWArrays arrays;
    std::uint64_t step_key;
    std::int64_t begin, end;
    const StepSums* sums;
};

/// The first of this thread's eight elements; at or beyond the end if it has none.
__device__ std::int64_t first_element(const Range& range) {
    return range.begin +
           Eight::kWidth * (std::int64_t{blockIdx.x} * kThreads + std::int64_t{threadIdx.x});
}

/// With the keys of the random bits of the segment that holds element `i`.
__device__ AdamWArrays arrays_at(const Range& range, UpdatePass pass, std::int64_t i) {
    AdamWArrays arrays = range.arrays;
    const std::uint64_t key = key_of_segment(range.step_key, i / kSegment, pass);
    arrays.keys[0] = static_cast<std::uint32_t>(key);
    arrays.keys[1] = static_cast<std::uint32_t>(key >> 32);
    arrays.index = static_cast<std::uint32_t>(i % kSegment) - static_cast<std::uint32_t>(i);
    return arrays;
}

__device__ bool stops(const StepSums* sums) { return sums != nullptr && !sums->finite(); }

template <class Format, UpdatePass pass>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const Range range) {
    const std::int64_t i = first_element(range);
    if (i >= range.end || stops(range.sums)) return;
    adamw_vector<Eight, Format, pass>(range.constants, arrays_at(range, pass, i), i);
}

/// The largest of the 16 threads that share a block of moments.
__device__ float largest_of_block(float x) {
    static_assert(kMomentBlock == 16 * Eight::kWidth);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xffffffffU, x, distance);
        x = other > x ? other : x;
    }
    return x;
}

/// Like adamw_block(), with zeros in place of elements beyond the end.
template <int low_bytes, UpdatePass pass>
__global__ void __launch_bounds__(kThreads) blocks_kernel(const Range range) {
    if (stops(range.sums)) return;
    const std::int64_t i = first_element(range);
    const bool here = i < range.end;
    const AdamWArrays a = arrays_at(range, pass, i);
    const std::int64_t block = i / kMomentBlock;
    if constexpr (pass != UpdatePass::rewind) {
        Moments<Eight> next = {Eight::set(0), Eight::set(0)};
        if (here) {
            const auto root = load_root_code<Eight>(a, i, a.second_scale[block]);
            const Moments<Eight> old = {load_first_code<Eight>(a, i, a.first_scale[block]),
                                        Eight::mul(root, root)};
            next = next_moments<Eight, pass>(range.constants, old, load_gradient<Eight>(a, i));
        }
        const float first = largest_of_block(Eight::largest_lane(Eight::absolute(next.first)));
        const float second = largest_of_block(Eight::largest_lane(next.second));
        // Each of the 16 threads writes the same scales, after all of them have read the old ones.
        if (here) store_codes<Eight>(a, i, store_scales<Eight>(a, block, first, second), next);
    }
    if (here)
        move_parameters<Eight, low_bytes, pass>(range.constants, a, i,
                                                load_first_code<Eight>(a, i, a.first_scale[block]),
                                                load_root_code<Eight>(a, i, a.second_scale[block]));
}

template <UpdatePass pass, std::size_t row = 0>
void launch(cudaStream_t stream, int state_bytes, const Range& range) {
    constexpr StatePrecision precision = kStatePrecisions[row];
    const unsigned blocks =
        grid_of("adamw", divide_up(range.end - range.begin, kThreads * Eight::kWidth));
    if (state_bytes != precision.bytes) {
        if constexpr (row + 1 < kStatePrecisions.size())
            return launch<pass, row + 1>(stream, state_bytes, range);
    } else if constexpr (precision.has_scales()) {
        blocks_kernel<precision.low_bytes, pass><<<blocks, kThreads, 0, stream>>>(range);
    } else if constexpr (precision.moment_bytes == 2) {
        vectors_kernel<Bf16Moments<Eight>, pass><<<blocks, kThreads, 0, stream>>>(range);
    } else {
        vectors_kernel<Fp32Moments<Eight>, pass><<<blocks, kThreads, 0, stream>>>(range);
    }
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void launch(cudaStream_t stream, UpdatePass pass, int state_bytes, const Range& range) {
    if (pass == UpdatePass::update) return launch<UpdatePass::update>(stream, state_bytes, range);
    if (pass == UpdatePass::rewind) return launch<UpdatePass::rewind>(stream, state_bytes, range);
    require(pass == UpdatePass::redo, "adamw", "a whole update");
    launch<UpdatePass::redo>(stream, state_bytes, range);
}

/// A gap between two tensors belongs to the range before it.
std::int64_t whole_vectors(std::int64_t element) {
    return divide_up(element, Eight::kWidth) * Eight::kWidth;
}

}  // namespace

void CudaKernels::adamw(const BlockUpdate& update) {
    const char* const operation = "adamw";
    const ParameterBlock& block = update.block;
    require(block.count % Eight::kWidth == 0, operation, "a multiple of 8 elements");
    const void* const planes[] = {block.high,           block.low,
                                  block.first_moment,   block.second_moment,
                                  update.gradient.bf16, update.gradient.fp32};
    for (const void* plane : planes)
        require(is_aligned(plane), operation, "planes and gradients at multiples of 16 bytes");
    for (const DecayRange& decay : update.decay) {
        const Range range = {
            .constants = constants_of(update.step, decay.decay),
            .arrays = {.high = block.high,
                       .low = block.low,
                       .first = block.first_moment,
                       .second = block.second_moment,
                       .first_scale = block.first_scale,
                       .second_scale = block.second_scale,
                       .gradient_bf16 = update.gradient.bf16,
                       .gradient_fp32 = update.gradient.fp32,
                       .index = 0,
                       .keys = {}},
            .step_key = key_of_step(update.step),
            .begin = whole_vectors(decay.begin),
            .end = whole_vectors(decay.end),
            .sums = update.sums,
        };
        if (range.begin < range.end) launch(stream_, update.pass, block.state_bytes, range);
    }
}

}  // namespace sluice
