// How are numbers in device memory addressed? Through views, which own no memory.
#pragma once

#include <cstdint>

namespace sluice {

enum class DType : std::uint8_t { bf16, fp32, e4m3, e5m2 };
constexpr bool is_fp8(DType type) { return type == DType::e4m3 || type == DType::e5m2; }
constexpr std::int64_t bytes_of(DType type) {
    return is_fp8(type) ? 1 : type == DType::bf16 ? 2 : 4;
}

/// A row-major matrix; consecutive rows are `stride` elements apart.
struct Matrix {
    void* data = nullptr;
    DType type = DType::bf16;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;

    Matrix() = default;
    Matrix(void* data_, DType type_, std::int64_t rows_, std::int64_t columns_)
        : data(data_), type(type_), rows(rows_), columns(columns_), stride(columns_) {}
    std::int64_t elements() const { return rows * columns; }
    bool present() const { return data != nullptr; }
    /// Rows [begin, begin + count).
    Matrix row_range(std::int64_t begin, std::int64_t count) const {
        Matrix part = *this;
        part.data = static_cast<char*>(data) + begin * stride * bytes_of(type);
        part.rows = count;
        return part;
    }
    /// Columns [begin, begin + count).
    Matrix column_range(std::int64_t begin, std::int64_t count) const {
        Matrix part = *this;
        part.data = static_cast<char*>(data) + begin * bytes_of(type);
        part.columns = count;
        return part;
    }
};

struct Vector {
    void* data = nullptr;
    DType type = DType::bf16;
    std::int64_t size = 0;
    bool present() const { return data != nullptr; }
};

}  // namespace sluice
