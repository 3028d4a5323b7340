// How do bf16 weights become FP8? Codes are those of to_fp8() of engine/kernels/fp8.h, to the bit.
#pragma once

#include <cstdint>

namespace sluice {

/// Writes the e4m3 codes of `count` numbers times `factor`, a power of two; those of products
/// beyond 448 are not defined. Returns the largest of the numbers' bits without their signs.
std::uint16_t weight_codes(const std::uint16_t* from, std::uint8_t* codes, std::int64_t count,
                           float factor);

}  // namespace sluice
