// What number do 16 bits of bf16 stand for?
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

inline float bf16_to_float(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace sluice
