"""Writes nf4_vectors.h: what bitsandbytes makes of weights that nf4_test.cpp makes, too.

    pip install bitsandbytes==0.50.2 torch; python nf4_vectors.py > nf4_vectors.h

The largest numbers of blocks are multiples of 2^-12, so that their sums are exact in any order. The
codes of scales are those of the nearest numbers, as its CUDA kernels find them. Its CPU kernels look
them up by the first 16 bits of a number, which is the neighbour where two are nearly as near: there
the nearest one is taken.
"""

import torch
from bitsandbytes.functional import create_dynamic_map, dequantize_4bit, quantize_4bit

ELEMENTS = 64 * 333 + 32


def weights():
    i = torch.arange(ELEMENTS, dtype=torch.int64)
    bits = (i * 2654435761) % 2**32
    largest = 1 + (i // 64) * 37 % 255
    value = (bits >> 8) % (2 * largest + 1) - largest
    value[64:128] = 0
    return (value.float() * 2.0**-12).bfloat16()


def fnv(tensor):
    hash_ = 0xCBF29CE484222325
    for byte in tensor.flatten().view(torch.uint8).tolist():
        hash_ = (hash_ ^ byte) * 0x100000001B3 % 2**64
    return f"0x{hash_:016x}U"


def main():
    a = weights()
    codes, state = quantize_4bit(a, compress_statistics=True, quant_type="nf4")
    numbers = create_dynamic_map()
    largest = torch.cat([a[:-32].float().view(-1, 64), a[-32:].float().repeat(2).view(1, 64)])
    above = largest.abs().amax(1) - state.offset
    nearest = torch.empty_like(state.absmax)
    differ = 0
    for block in range(0, above.numel(), 256):
        part = above[block : block + 256]
        scaled = part * (1 / part.abs().max())
        distance = (scaled[:, None].double() - numbers.double()).abs()
        nearest[block : block + 256] = distance.argmin(1).to(torch.uint8)
    differ = int((nearest != state.absmax).sum())
    state.absmax = nearest
    decoded = dequantize_4bit(codes, state, quant_type="nf4").view(torch.int16)
    print("// Written by nf4_vectors.py: bitsandbytes' NF4 of the weights that nf4_test.cpp makes;")
    print(f"// {differ} of {nearest.numel()} codes of scales are those of its CUDA kernels alone.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace sluice::nf4_vectors {\n")
    print(f"inline constexpr std::int64_t kElements = {ELEMENTS};")
    print(f"inline constexpr float kMean = {state.offset.item().hex()}F;")
    words = ", ".join(f"{value.item().hex()}F" for value in state.state2.absmax)
    print(f"inline constexpr float kLargest[] = {{{words}}};")
    print("// FNV-1a of 64 bits")
    print(f"inline constexpr std::uint64_t kCodes = {fnv(codes)},")
    print(f"                               kScales = {fnv(nearest)},")
    print(f"                               kNumbers = {fnv(numbers)},")
    print(f"                               kDecoded = {fnv(decoded)};")
    print("\n}  // namespace sluice::nf4_vectors")


if __name__ == "__main__":
    main()
