#include "calibrate/cases/memory_loops.h"

namespace sluice {

std::uint32_t read_words(const std::uint32_t* from, std::int64_t count) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += from[i];
    return sum;
}

void write_words(float* to, float value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = value;
}

void triad(float* __restrict a, const float* __restrict b, const float* __restrict c, float scale,
           std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + scale * c[i];
}

}  // namespace sluice
