#include <immintrin.h>

#include "engine/optimizer/adamw_kernel.h"
#include "engine/optimizer/weight_codes_kernel.h"

namespace sluice {

namespace {

/// 16 elements; the operations are those of Scalar in adamw_portable.cpp.
struct Avx512 {
    static constexpr int kWidth = 16;
    /// The prefetchers of a Xeon end at a page. On one with 16 CPUs, 12 threads update 5.45 instead
    /// of 4.93 Gparam/s with 12 bytes of state, 7.11 instead of 6.39 with 8
    /// (`engine/measurements/adam-parts.txt`). Not measured on an EPYC with AVX-512.
    static constexpr std::int64_t kAhead = 1024;
    using Float = __m512;
    using Bits = __m512i;

    static Float set(float x) { return _mm512_set1_ps(x); }
    static Bits set_bits(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
    static Bits lanes() {
        return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    static Float load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Float x) { _mm512_storeu_ps(to, x); }
    static Bits load_u16(const std::uint16_t* from) {
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    }
    static Bits load_i16(const std::uint16_t* from) {
        return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    }
    static Bits load_u8(const std::uint8_t* from) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    static Bits load_i8(const std::int8_t* from) {
        return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    static void store_16(std::uint16_t* to, Bits x) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(x));
    }
    static void store_8(void* to, Bits x) {
        _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x));
    }

    static Float as_float(Bits x) { return _mm512_castsi512_ps(x); }
    static Bits as_bits(Float x) { return _mm512_castps_si512(x); }
    static Float to_float(Bits x) { return _mm512_cvtepi32_ps(x); }
    static Bits to_bits(Float x) { return _mm512_cvttps_epi32(x); }

    static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
    static Float sub(Float a, Float b) { return _mm512_sub_ps(a, b); }
    static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
    static Float div(Float a, Float b) { return _mm512_div_ps(a, b); }
    static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
    static Float fms(Float a, Float b, Float c) { return _mm512_fmsub_ps(a, b, c); }
    static Float sqrt(Float x) { return _mm512_sqrt_ps(x); }
    static Float absolute(Float x) { return _mm512_abs_ps(x); }
    static Float larger(Float a, Float b) { return _mm512_max_ps(a, b); }
    static Float with_sign_of(Float magnitude, Float x) {
        return _mm512_or_ps(magnitude, _mm512_and_ps(x, set(-0.0F)));
    }
    static Float if_less(Float a, Float b, Float yes, Float no) {
        return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
    }
    static float root(float x) { return __builtin_sqrtf(x); }
    static float largest_lane(Float x) { return _mm512_reduce_max_ps(x); }

    static Bits plus(Bits a, Bits b) { return _mm512_add_epi32(a, b); }
    static Bits minus(Bits a, Bits b) { return _mm512_sub_epi32(a, b); }
    static Bits times(Bits a, Bits b) { return _mm512_mullo_epi32(a, b); }
    static Bits bits_and(Bits a, Bits b) { return _mm512_and_si512(a, b); }
    static Bits bits_xor(Bits a, Bits b) { return _mm512_xor_si512(a, b); }
    template <int n>
    static Bits shift_left(Bits x) {
        return _mm512_slli_epi32(x, n);
    }
    template <int n>
    static Bits shift_right(Bits x) {
        return _mm512_srli_epi32(x, n);
    }
};

}  // namespace

void adamw_avx512(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                  const AdamWArrays& arrays, std::int64_t count) {
    adamw_kernel<Avx512>(pass, state_bytes, constants, arrays, count);
}

std::uint16_t weight_codes_avx512(const std::uint16_t* from, std::uint8_t* codes,
                                  std::int64_t count, float factor) {
    return weight_codes_kernel<Avx512>(from, codes, count, factor);
}

}  // namespace sluice
