#include <immintrin.h>

#include "engine/optimizer/adamw_kernel.h"
#include "engine/optimizer/weight_codes_kernel.h"

namespace sluice {

namespace {

/// 8 elements; the operations are those of Scalar in adamw_portable.cpp.
struct Avx2 {
    static constexpr int kWidth = 8;
    static constexpr std::int64_t kAhead = 0;  ///< 1024 gained nothing on an EPYC 9004
    using Float = __m256;
    using Bits = __m256i;

    static Float set(float x) { return _mm256_set1_ps(x); }
    static Bits set_bits(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
    static Bits lanes() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
    static Float load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Float x) { _mm256_storeu_ps(to, x); }
    static Bits load_u16(const std::uint16_t* from) {
        return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    static Bits load_i16(const std::uint16_t* from) {
        return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    static Bits load_u8(const std::uint8_t* from) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    }
    static Bits load_i8(const std::int8_t* from) {
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    }
    static __m128i low_halves(Bits x) {  // the low 16 bits of each element
        const Bits low = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
        return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    }
    static void store_16(std::uint16_t* to, Bits x) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low_halves(x));
    }
    static void store_8(void* to, Bits x) {
        const __m128i halves = low_halves(_mm256_and_si256(x, _mm256_set1_epi32(0xff)));
        _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
    }

    static Float as_float(Bits x) { return _mm256_castsi256_ps(x); }
    static Bits as_bits(Float x) { return _mm256_castps_si256(x); }
    static Float to_float(Bits x) { return _mm256_cvtepi32_ps(x); }
    static Bits to_bits(Float x) { return _mm256_cvttps_epi32(x); }

    static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
    static Float sub(Float a, Float b) { return _mm256_sub_ps(a, b); }
    static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
    static Float div(Float a, Float b) { return _mm256_div_ps(a, b); }
    static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
    static Float fms(Float a, Float b, Float c) { return _mm256_fmsub_ps(a, b, c); }
    static Float sqrt(Float x) { return _mm256_sqrt_ps(x); }
    static Float absolute(Float x) { return _mm256_andnot_ps(set(-0.0F), x); }
    static Float larger(Float a, Float b) { return _mm256_max_ps(a, b); }
    static Float with_sign_of(Float magnitude, Float x) {
        return _mm256_or_ps(magnitude, _mm256_and_ps(x, set(-0.0F)));
    }
    static Float if_less(Float a, Float b, Float yes, Float no) {
        return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
    }
    static float root(float x) { return __builtin_sqrtf(x); }
    static float largest_lane(Float x) {
        __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        y = _mm_max_ps(y, _mm_movehl_ps(y, y));
        return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
    }

    static Bits plus(Bits a, Bits b) { return _mm256_add_epi32(a, b); }
    static Bits minus(Bits a, Bits b) { return _mm256_sub_epi32(a, b); }
    static Bits times(Bits a, Bits b) { return _mm256_mullo_epi32(a, b); }
    static Bits bits_and(Bits a, Bits b) { return _mm256_and_si256(a, b); }
    static Bits bits_xor(Bits a, Bits b) { return _mm256_xor_si256(a, b); }
    template <int n>
    static Bits shift_left(Bits x) {
        return _mm256_slli_epi32(x, n);
    }
    template <int n>
    static Bits shift_right(Bits x) {
        return _mm256_srli_epi32(x, n);
    }
};

}  // namespace

void adamw_avx2(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                const AdamWArrays& arrays, std::int64_t count) {
    adamw_kernel<Avx2>(pass, state_bytes, constants, arrays, count);
}

std::uint16_t weight_codes_avx2(const std::uint16_t* from, std::uint8_t* codes, std::int64_t count,
                                float factor) {
    return weight_codes_kernel<Avx2>(from, codes, count, factor);
}

}  // namespace sluice
