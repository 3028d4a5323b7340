// How do moments of 4, 2 and 1 bytes become fp32 vectors and back? Internal; V as in
// adamw_kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/optimizer/adamw_implementation.h"

/// Forces inlining of functions that work on one vector: a call per vector would keep nothing in
/// registers.
#ifdef __CUDACC__
#define SLUICE_INLINE __device__ __forceinline__
#else
#define SLUICE_INLINE [[gnu::always_inline]] inline
#endif

namespace sluice {

template <class V>
struct Moments {
    typename V::Float first, second;
};

namespace {
/// The arrays from element `i` on (a multiple of kMomentBlock if moments have scales).
inline AdamWArrays from_element(const AdamWArrays& a, std::int64_t i, int low_bytes,
                                int moment_bytes) {
    AdamWArrays rest = a;
    rest.high += i;
    if (low_bytes > 0) rest.low = static_cast<std::byte*>(a.low) + i * low_bytes;
    rest.first = static_cast<std::byte*>(a.first) + i * moment_bytes;
    rest.second = static_cast<std::byte*>(a.second) + i * moment_bytes;
    if (a.first_scale != nullptr) rest.first_scale += i / kMomentBlock;
    if (a.second_scale != nullptr) rest.second_scale += i / kMomentBlock;
    if (a.gradient_bf16 != nullptr) rest.gradient_bf16 += i;
    if (a.gradient_fp32 != nullptr) rest.gradient_fp32 += i;
    rest.index += static_cast<std::uint32_t>(i);
    return rest;
}
}  // namespace

/// 32 random bits per element: the finalizer of MurmurHash3 (Appleby) over index and keys.
template <class V>
SLUICE_INLINE typename V::Bits random_bits(const AdamWArrays& a, std::int64_t i) {
    const auto index = a.index + static_cast<std::uint32_t>(i);
    auto x = V::bits_xor(V::plus(V::set_bits(index), V::lanes()), V::set_bits(a.keys[0]));
    x = V::bits_xor(x, V::template shift_right<16>(x));
    x = V::times(x, V::set_bits(0x85ebca6bU));
    x = V::bits_xor(V::bits_xor(x, V::set_bits(a.keys[1])), V::template shift_right<13>(x));
    x = V::times(x, V::set_bits(0xc2b2ae35U));
    return V::bits_xor(x, V::template shift_right<16>(x));
}

/// 12 bytes of state: moments are fp32.
template <class V>
struct Fp32Moments {
    static constexpr int kBytes = 4;
    SLUICE_INLINE static Moments<V> load(const AdamWArrays& a, std::int64_t i) {
        return {V::load(static_cast<const float*>(a.first) + i),
                V::load(static_cast<const float*>(a.second) + i)};
    }
    SLUICE_INLINE static Moments<V> store(const AdamWArrays& a, std::int64_t i,
                                          Moments<V> moments) {
        V::store(static_cast<float*>(a.first) + i, moments.first);
        V::store(static_cast<float*>(a.second) + i, moments.second);
        return moments;
    }
    /// The moments as store() returns them.
    SLUICE_INLINE static Moments<V> rounded(const AdamWArrays&, std::int64_t, Moments<V> moments) {
        return moments;
    }
};

/// 8 bytes: bf16, rounded up with the probability of the part that is cut off. Rounded to nearest,
/// a second moment would not change if a step changes it by less than 1/512.
template <class V>
struct Bf16Moments {
    static constexpr int kBytes = 2;
    SLUICE_INLINE static typename V::Float load_one(const void* from, std::int64_t i) {
        const auto bits = V::load_u16(static_cast<const std::uint16_t*>(from) + i);
        return V::as_float(V::template shift_left<16>(bits));
    }
    SLUICE_INLINE static typename V::Bits code_of(typename V::Float x, typename V::Bits random16) {
        return V::template shift_right<16>(V::plus(V::as_bits(x), random16));
    }
    SLUICE_INLINE static Moments<V> of_codes(typename V::Bits first, typename V::Bits second) {
        return {V::as_float(V::template shift_left<16>(first)),
                V::as_float(V::template shift_left<16>(second))};
    }
    struct Codes {
        typename V::Bits first, second;
    };
    SLUICE_INLINE static Codes codes(const AdamWArrays& a, std::int64_t i, Moments<V> moments) {
        const auto random = random_bits<V>(a, i);
        const auto low = V::bits_and(random, V::set_bits(0xffff));
        return {code_of(moments.first, low),
                code_of(moments.second, V::template shift_right<16>(random))};
    }
    SLUICE_INLINE static Moments<V> load(const AdamWArrays& a, std::int64_t i) {
        return {load_one(a.first, i), load_one(a.second, i)};
    }
    /// Returns the moments as stored; the parameters move by these, so that they can be rewound.
    SLUICE_INLINE static Moments<V> store(const AdamWArrays& a, std::int64_t i,
                                          Moments<V> moments) {
        const Codes out = codes(a, i, moments);
        V::store_16(static_cast<std::uint16_t*>(a.first) + i, out.first);
        V::store_16(static_cast<std::uint16_t*>(a.second) + i, out.second);
        return of_codes(out.first, out.second);
    }
    /// The moments as store() returns them.
    SLUICE_INLINE static Moments<V> rounded(const AdamWArrays& a, std::int64_t i,
                                            Moments<V> moments) {
        const Codes out = codes(a, i, moments);
        return of_codes(out.first, out.second);
    }
};

// 6 bytes and less: with c the code of an element, the first moment is c |c| scale and the root of
// the second c^2 scale. The square keeps small values apart: the least nonzero first moment is
// 1/127^2 = 6e-5 of its block's largest (a linear code: 8e-3). A second moment above zero has at
// least code
// 2. Its root over the largest is then equal to that ratio of the least first moment, so a second
// moment far below its neighbours cannot make a step larger than theirs.
inline constexpr float kFirstLevels = 127, kSecondLevels = 255, kLeastSecondCode = 2;

template <class V>
SLUICE_INLINE typename V::Float load_first_code(const AdamWArrays& a, std::int64_t i, float scale) {
    const auto code = V::to_float(V::load_i8(static_cast<const std::int8_t*>(a.first) + i));
    return V::mul(V::mul(code, V::absolute(code)), V::set(scale));
}

/// The square root of the second moments.
template <class V>
SLUICE_INLINE typename V::Float load_root_code(const AdamWArrays& a, std::int64_t i, float scale) {
    const auto code = V::to_float(V::load_u8(static_cast<const std::uint8_t*>(a.second) + i));
    return V::mul(V::mul(code, code), V::set(scale));
}

/// 1 / the largest moments of a block, 0 if all are zero.
struct CodeScales {
    float first, second;
};

template <class V>
SLUICE_INLINE CodeScales store_scales(const AdamWArrays& a, std::int64_t block, float largest_first,
                                      float largest_second) {
    a.first_scale[block] = largest_first / (kFirstLevels * kFirstLevels);
    a.second_scale[block] = V::root(largest_second) / (kSecondLevels * kSecondLevels);
    return {largest_first > 0 ? 1 / largest_first : 0, largest_second > 0 ? 1 / largest_second : 0};
}

/// `code` or `code` + 1, the latter with the probability `above` / `gap`; at most `levels`.
template <class V>
SLUICE_INLINE typename V::Float round_code(typename V::Float code, typename V::Float above,
                                           typename V::Float gap, typename V::Bits random16,
                                           float levels) {
    const auto random = V::mul(V::to_float(random16), V::set(1.0F / 65536));
    const auto up = V::add(code, V::set(1));
    const auto rounded = V::if_less(V::mul(random, gap), above, up, code);
    return V::if_less(V::set(levels), rounded, V::set(levels), rounded);
}

/// Rounds so that the mean is the moment itself (not its root), since the moments are averages.
template <class V>
SLUICE_INLINE void store_codes(const AdamWArrays& a, std::int64_t i, CodeScales inverse,
                               Moments<V> moments) {
    const auto random = random_bits<V>(a, i);
    {
        const auto share = V::mul(V::absolute(moments.first), V::set(inverse.first));
        const auto x = V::mul(share, V::set(kFirstLevels * kFirstLevels));
        const auto code = V::to_float(V::to_bits(V::sqrt(x)));
        const auto above = V::sub(x, V::mul(code, code));
        const auto gap = V::add(V::add(code, code), V::set(1));
        const auto low = V::bits_and(random, V::set_bits(0xffff));
        const auto rounded = round_code<V>(code, above, gap, low, kFirstLevels);
        V::store_8(static_cast<std::int8_t*>(a.first) + i,
                   V::to_bits(V::with_sign_of(rounded, moments.first)));
    }
    constexpr float kLevels2 = kSecondLevels * kSecondLevels;
    const auto x =
        V::mul(V::mul(moments.second, V::set(inverse.second)), V::set(kLevels2 * kLevels2));
    const auto code = V::to_float(V::to_bits(V::sqrt(V::sqrt(x))));
    const auto square = V::mul(code, code);
    const auto fourth = V::mul(square, square);
    const auto next = V::add(code, V::set(1));
    const auto next_square = V::mul(next, next);
    const auto gap = V::sub(V::mul(next_square, next_square), fourth);
    const auto rounded = round_code<V>(code, V::sub(x, fourth), gap,
                                       V::template shift_right<16>(random), kSecondLevels);
    const auto least = V::larger(rounded, V::set(kLeastSecondCode));
    V::store_8(static_cast<std::uint8_t*>(a.second) + i,
               V::to_bits(V::if_less(V::set(0), moments.second, least, V::set(0))));
}

}  // namespace sluice
