// How is a tensor kept in NF4, and what do its codes mean? As bitsandbytes' CUDA kernels have it,
// to the bit; its blocks are coded one by one, so that threads share them. The CPU's decoding and
// the GPU's agree to the bit.
#pragma once

#include <array>
#include <cstdint>

#include "sim/specs/model/forms/nf4_parts.h"

namespace sluice {

/// The matrix of one linear layer, in the order of its rows. Blocks may be the device's.
struct Nf4Tensor {
    /// The one that begins at `at`, laid out by Nf4Parts.
    Nf4Tensor(void* at, std::int64_t elements_)
        : elements(elements_), parts(elements_), block(static_cast<char*>(at)) {}
    std::int64_t elements;
    Nf4Parts parts;
    char* block;
    float* mean() const { return reinterpret_cast<float*>(block + parts.mean); }
    float* largest() const { return reinterpret_cast<float*>(block + parts.largest); }
    std::uint8_t* scales() const { return reinterpret_cast<std::uint8_t*>(block + parts.scales); }
    std::uint8_t* codes() const { return reinterpret_cast<std::uint8_t*>(block + parts.codes); }
};

/// The numbers of 4-bit codes, in their order (functional.py, get_4bit_type).
inline constexpr std::array<float, 16> kNf4Numbers = {
    -0x1p+0F,        -0x1.647362p-1F, -0x1.0cd66p-1F,  -0x1.94654p-2F,
    -0x1.23449ap-2F, -0x1.7a6a7ep-3F, -0x1.74f0e2p-4F, 0x0p+0F,
    0x1.45f5fep-4F,  0x1.4995c6p-3F,  0x1.f809bap-3F,  0x1.5a0674p-2F,
    0x1.c3497p-2F,   0x1.200f56p-1F,  0x1.722766p-1F,  0x1p+0F};

/// The numbers of 8-bit codes, in their order: create_dynamic_map() of functional.py, signed.
const std::array<float, 256>& dynamic_numbers();

/// The sum of the largest |number| of the blocks of a group, of which mean() is the mean.
double nf4_sum(const std::uint16_t* weights, const Nf4Tensor& tensor, std::int64_t group);
/// Writes the codes of a group, whose bf16 `weights` are those of the whole tensor, given the mean.
void encode_nf4(const std::uint16_t* weights, const Nf4Tensor& tensor, std::int64_t group,
                float mean);
/// Writes the numbers of a group in bf16, rounded to nearest, among those of the whole tensor.
void decode_nf4(std::uint16_t* out, const Nf4Tensor& tensor, std::int64_t group);

}  // namespace sluice
