// Which units do numbers have? Bytes, seconds and FLOPs everywhere; files are converted once, when
// they are read.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

using Bytes = std::int64_t;
using Seconds = double;
using Flops = double;

inline constexpr double kKilo = 1e3;
inline constexpr double kMega = 1e6;
inline constexpr double kGiga = 1e9;
inline constexpr double kTera = 1e12;
inline constexpr Bytes kMiB = Bytes{1} << 20;

/// Bytes of one bf16 and one fp32 number.
inline constexpr Bytes kBf16 = 2;
/// Numbers of an activation that share a scale where it is kept in 8 bits.
inline constexpr std::int64_t kEightBitGroup = 128;
inline constexpr Bytes kFp32 = 4;

/// The number that 16 bits of bf16 represent.
constexpr float bf16_to_float(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace sluice
