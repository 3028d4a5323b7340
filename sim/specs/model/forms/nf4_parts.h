// Where are the parts of a matrix in NF4, as bitsandbytes defines it (csrc/kernels.cu,
// functional.py of 0.50)? 4-bit codes in blocks of 64 numbers, whose largest is kept as an 8-bit
// code of its difference from the mean of all, in blocks of 256 such differences.
#pragma once

#include <cstdint>

namespace sluice {

inline constexpr std::int64_t kNf4Block = 64, kNf4Scales = 256;

/// Offsets in bytes, each a multiple of 16, and where the matrix ends.
struct Nf4Parts {
    /// Those of one linear layer.
    constexpr explicit Nf4Parts(std::int64_t elements)
        : blocks((elements + kNf4Block - 1) / kNf4Block),
          groups((blocks + kNf4Scales - 1) / kNf4Scales),
          largest(aligned(4)),
          scales(largest + aligned(4 * groups)),
          codes(scales + aligned(blocks)),
          end(codes + aligned((elements + 1) / 2)) {}
    std::int64_t blocks;    ///< of numbers
    std::int64_t groups;    ///< of blocks
    std::int64_t mean = 0;  ///< one fp32
    std::int64_t largest;   ///< one fp32 a group
    std::int64_t scales;    ///< a byte a block
    std::int64_t codes;     ///< two numbers a byte, the first in the upper half
    std::int64_t end;

  private:
    static constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }
};

/// Read for a number of such a matrix.
inline constexpr double kNf4Bytes = 0.5 + 1.0 / kNf4Block + 4.0 / (kNf4Block * kNf4Scales);

}  // namespace sluice
