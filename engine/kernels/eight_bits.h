// How does a matrix wait for backward in 8 bits a number? As integers, with the largest |number| of
// every 128 of a row beside them. Blocks and their largest numbers are those of arXiv 2110.02861;
// evenly spaced codes, because products of a layer are spread around 0 without long tails. The
// CPU's codes and the GPU's agree to the bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/units.h"

namespace sluice {

/// Codes of a matrix (rows, 2 x width) whose halves are cut into groups each.
struct EightBits {
    std::int8_t* codes = nullptr;      ///< (rows, 2 x width)
    std::uint16_t* largest = nullptr;  ///< (rows, 2 x groups()): bits of the |number| in bf16
    std::int64_t width = 0;
    constexpr bool present() const { return codes != nullptr; }
    constexpr std::int64_t groups() const { return (width + kEightBitGroup - 1) / kEightBitGroup; }
    /// From row `begin` on.
    constexpr EightBits rows_from(std::int64_t begin) const {
        if (!present()) return {};
        return {codes + begin * 2 * width, largest + begin * 2 * groups(), width};
    }
};

/// A number times this, rounded, is its code. 0 if all numbers of the group are 0, or one is not
/// finite.
constexpr float eight_bit_factor(std::uint16_t largest) {
    constexpr float kMost = 1e38F;  // of a group of subnormal numbers
    const float value = bf16_to_float(largest);
    if (!(value > 0)) return 0;
    const float factor = 127 / value;
    return factor < kMost ? factor : kMost;
}

/// A code times this is the number. Where one of the group is not finite, all of it becomes NaN.
constexpr float eight_bit_unit(std::uint16_t largest) { return bf16_to_float(largest) / 127; }

inline std::int8_t to_eight_bits(float value, float factor) {
    const float code = std::nearbyint(value * factor);
    if (!(code == code)) return 0;
    return static_cast<std::int8_t>(code > 127 ? 127 : code < -127 ? -127 : code);
}

}  // namespace sluice
