// How is a tensor kept in FP8? Its numbers times one power of two, in e4m3 or e5m2 of OCP's "8-bit
// Floating Point Specification (OFP8)", 2023. The CPU's casts and the GPU's agree to the bit.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/kernels/matrix.h"

namespace sluice {

/// Stands beside a tensor's codes in device memory; cuBLASLt wants its address at a multiple of 16.
struct alignas(16) Fp8Scale {
    float back = 1;             ///< a code's value times this is the number: a power of two
    std::uint32_t largest = 0;  ///< bits of the largest |number| in fp32; NaN is above infinity
};

/// The power of two that brings the largest |number| as far up as it still fits (448 in e4m3, 57344
/// in e5m2, both 1.75 times a power of two), so that products by it are exact. 1 if all numbers are
/// 0; NaN, so that all codes become NaN and the loss tells, if one is not finite.
constexpr float fp8_factor(std::uint32_t largest, DType type) {
    if (largest == 0) return 1;
    if (largest >= 0x7f800000U) return std::bit_cast<float>(0x7fc00000U);
    constexpr std::uint32_t kThreeQuarters = 0x600000U;  // of fp32's mantissa
    const int above = (largest & 0x7fffffU) > kThreeQuarters ? 1 : 0;
    const int power = (type == DType::e4m3 ? 8 : 15) - (static_cast<int>(largest >> 23) - 127);
    const int kept = power - above > 126 ? 126 : power - above;  // its inverse is normal too
    return std::bit_cast<float>(static_cast<std::uint32_t>(kept + 127) << 23);
}

/// The code nearest to `value`, of two the even one; beyond the largest the largest, 0x7f for NaN.
std::uint8_t to_fp8(float value, DType type);
float from_fp8(std::uint8_t code, DType type);

}  // namespace sluice
