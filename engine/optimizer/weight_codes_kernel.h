// How are bf16 weights coded in e4m3, and the largest of them found? V as in adamw_kernel.h.
#pragma once

#include "engine/optimizer/adamw_kernel.h"

namespace sluice {

/// Codes of V::kWidth numbers times `factor`, a power of two; to_fp8() of engine/kernels/fp8.h, to
/// the bit, where the products are at most 448.
template <class V>
SLUICE_INLINE void store_weight_codes(const std::uint16_t* from, std::uint8_t* codes, float factor,
                                      typename V::Float& largest) {
    const auto bits = V::load_u16(from), size = V::bits_and(bits, V::set_bits(0x7fff));
    largest = V::larger(V::to_float(size), largest);
    const auto scaled = V::mul(V::as_float(V::template shift_left<16>(size)), V::set(factor));
    // Three bits of the mantissa stay, rounded half to even; the exponent's bias is 7.
    const auto x = V::as_bits(scaled);
    const auto odd = V::bits_and(V::template shift_right<20>(x), V::set_bits(1));
    const auto rounded = V::plus(V::plus(x, V::set_bits(0x7ffff)), odd);
    const auto normal = V::minus(V::template shift_right<20>(rounded), V::set_bits(120 << 3));
    // Below the least normal code, 2^-6, the sum with 2^14 rounds to units of 2^-9.
    const auto sum = V::as_bits(V::add(scaled, V::set(0x1p14F)));
    const auto small = V::minus(sum, V::set_bits(0x46800000));
    const auto code =
        V::as_bits(V::if_less(scaled, V::set(0x1p-6F), V::as_float(small), V::as_float(normal)));
    const auto sign = V::bits_and(V::template shift_right<8>(bits), V::set_bits(0x80));
    V::store_8(codes, V::plus(code, sign));
}

/// Returns the bits of the largest |number|.
template <class V>
std::uint16_t weight_codes_kernel(const std::uint16_t* from, std::uint8_t* codes,
                                  std::int64_t count, float factor) {
    auto largest = V::set(0);
    const std::int64_t whole = count - count % V::kWidth;
    for (std::int64_t i = 0; i < whole; i += V::kWidth)
        store_weight_codes<V>(from + i, codes + i, factor, largest);
    if (whole < count) {
        const auto rest = static_cast<std::size_t>(count - whole);
        std::uint16_t padded[V::kWidth] = {};
        std::uint8_t out[V::kWidth];
        std::memcpy(padded, from + whole, 2 * rest);
        store_weight_codes<V>(padded, out, factor, largest);
        std::memcpy(codes + whole, out, rest);
    }
    return static_cast<std::uint16_t>(V::largest_lane(largest));
}

}  // namespace sluice
