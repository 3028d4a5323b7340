#include "engine/kernels/cuda/require.h"

#include <fmt/format.h>

#include <limits>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

const char* name_of(DType type) { return type == DType::bf16 ? "bf16" : "fp32"; }

}  // namespace

void require(bool holds, const char* operation, const char* what) {
    if (holds) return;
    throw InternalError(fmt::format("{}: expected {}; please report this", operation, what));
}

void require_bf16(const char* operation, const char* name, const Matrix& matrix, std::int64_t rows,
                  std::int64_t columns) {
    const bool shape_fits = matrix.rows == rows && matrix.columns == columns && rows > 0 &&
                            columns > 0 && matrix.stride >= columns;
    if (matrix.present() && matrix.type == DType::bf16 && shape_fits) return;
    throw InternalError(fmt::format(
        "{}: {} is {} {} x {} with {} elements from row to row{}, expected bf16 {} x {}; please "
        "report this",
        operation, name, name_of(matrix.type), matrix.rows, matrix.columns, matrix.stride,
        matrix.present() ? "" : " and no data", rows, columns));
}

void require_fp8(int compute_capability, const Matrix& matrix) {
    if (compute_capability < kFirstFp8Capability)
        throw InputError(
            fmt::format("--compute is fp8, which needs a GPU of compute capability 8.9; "
                        "this one has {}.{}; give bf16",
                        compute_capability / 10, compute_capability % 10));
    if (matrix.rows % 16 != 0 || matrix.columns % 16 != 0)
        throw InputError(
            fmt::format("--compute is fp8, but a matrix has {} x {} elements, expected "
                        "multiples of 16; give bf16",
                        matrix.rows, matrix.columns));
}

void require_eight_bits(std::int64_t width) {
    if (width % 8 == 0) return;
    throw InputError(
        fmt::format("--kept-bits is 8, but the feed-forward's width is {}, expected a multiple of "
                    "8; give 16",
                    width));
}

void require_gradient(const char* operation, const char* name, const Vector& vector,
                      std::int64_t size) {
    if (vector.present() && vector.size == size && size > 0) return;
    throw InternalError(fmt::format("{}: {} has {} elements{}, expected {}; please report this",
                                    operation, name, vector.size,
                                    vector.present() ? "" : " and no data", size));
}

void require_bf16(const char* operation, const char* name, const Vector& vector,
                  std::int64_t size) {
    require_gradient(operation, name, vector, size);
    if (vector.type == DType::bf16) return;
    throw InternalError(
        fmt::format("{}: {} is fp32, expected bf16; please report this", operation, name));
}

bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

bool rows_are_aligned(const Matrix& matrix) {
    return is_aligned(matrix.data) && matrix.stride * bytes_of(matrix.type) % 16 == 0;
}

unsigned grid_of(const char* operation, std::int64_t count) {
    require(count > 0 && count <= std::numeric_limits<std::int32_t>::max(), operation,
            "between 1 and 2^31 - 1 blocks of threads");
    return static_cast<unsigned>(count);
}

}  // namespace sluice
