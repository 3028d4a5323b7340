// Which loops measure host memory? McCalpin's STREAM (1995) and its parts. Compiled for speed in
// their own file.
#pragma once

#include <cstdint>

namespace sluice {

/// The sum of `count` words, modulo 2^32.
std::uint32_t read_words(const std::uint32_t* from, std::int64_t count);

void write_words(float* to, float value, std::int64_t count);

/// a = b + scale x c; the arrays do not overlap.
void triad(float* a, const float* b, const float* c, float scale, std::int64_t count);

}  // namespace sluice
