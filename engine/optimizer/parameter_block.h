// How are parameters and their optimizer state kept in host memory? The fp32 master as two 16-bit
// planes: the upper one is the parameter rounded to bf16, which is what is streamed to the device.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

/// Elements that share one scale where moments have 8 bits.
inline constexpr std::int64_t kMomentBlock = 128;

/// A flat range of parameters. Which moment pointers hold what depends on `state_bytes`:
/// 12: fp32; 8: bf16 rounded stochastically; 6: 8 bits with one fp32 scale a kMomentBlock elements.
struct ParameterBlock {
    std::uint16_t* high = nullptr;  ///< (count) bf16, master rounded to nearest
    std::uint16_t* low = nullptr;   ///< (count) master bits minus high << 16, as a signed number
    void* first_moment = nullptr;   ///< (count)
    void* second_moment = nullptr;  ///< (count)
    float* first_scale = nullptr;   ///< (count / kMomentBlock, rounded up), 8-bit moments only
    float* second_scale = nullptr;
    std::int64_t count = 0;
    int state_bytes = 12;
};

/// The two planes of a master; join_master() gives it back bit by bit.
struct MasterPlanes {
    std::uint16_t high, low;
};
inline MasterPlanes split_master(float master) {
    const auto bits = std::bit_cast<std::uint32_t>(master);
    return {static_cast<std::uint16_t>((bits + 0x8000U) >> 16), static_cast<std::uint16_t>(bits)};
}
inline float join_master(MasterPlanes planes) {
    const auto low =
        static_cast<std::int16_t>(planes.low);  // the sign bit of low: high was rounded up
    return std::bit_cast<float>((static_cast<std::uint32_t>(planes.high) << 16) +
                                static_cast<std::uint32_t>(static_cast<std::int32_t>(low)));
}

}  // namespace sluice
