#include "calibrate/cases/memory_loops.h"

// Vectors as wide as the processor's; the baseline of x86-64 has only 16 bytes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SLUICE_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SLUICE_WIDEST_VECTORS
#endif

namespace sluice {

SLUICE_WIDEST_VECTORS
std::uint32_t read_words(const std::uint32_t* from, std::int64_t count) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += from[i];
    return sum;
}

SLUICE_WIDEST_VECTORS
void write_words(float* to, float value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = value;
}

SLUICE_WIDEST_VECTORS
void triad(float* __restrict a, const float* __restrict b, const float* __restrict c, float scale,
           std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + scale * c[i];
}

}  // namespace sluice
