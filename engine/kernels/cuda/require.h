// Do the matrices of a call have matching shapes and types? Checks shared by all operations; plain
// C++.
#pragma once

#include <cstdint>

#include "engine/kernels/matrix.h"

namespace sluice {

/// Throws InternalError unless `holds`: `operation: expected what`.
void require(bool holds, const char* operation, const char* what);

/// Throws InternalError unless `matrix` is bf16, has `rows` x `columns` elements, at least one, and
/// rows that do not overlap. `name` is the operation's name for the argument.
void require_bf16(const char* operation, const char* name, const Matrix& matrix, std::int64_t rows,
                  std::int64_t columns);
/// The same for a vector of `size` elements.
void require_bf16(const char* operation, const char* name, const Vector& vector, std::int64_t size);
/// GPUs from this compute capability on (89 is 8.9) have products in FP8.
inline constexpr int kFirstFp8Capability = 89;
/// Throws InputError unless they have, and for a matrix of these sizes.
void require_fp8(int compute_capability, const Matrix& matrix);
/// Throws InputError unless a feed-forward of this width can be kept with 8 bits a number.
void require_eight_bits(std::int64_t width);
/// A vector of `size` elements, bf16 or fp32.
void require_gradient(const char* operation, const char* name, const Vector& vector,
                      std::int64_t size);

/// Whether rows of `matrix` may be read 16 bytes at a time, in part or whole.
bool rows_are_aligned(const Matrix& matrix);
bool is_aligned(const void* data);  ///< to 16 bytes

/// ceil(count / size).
inline constexpr std::int64_t divide_up(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

/// Blocks of a launch; throws InternalError if `count` is 0 or more than CUDA's 2^31 - 1.
unsigned grid_of(const char* operation, std::int64_t count);

}  // namespace sluice
