// What kind of number does a tensor in a file hold, and how wide is it?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The types of the safetensors format that fill whole bytes, in its order: files hold the tensors
/// of later types first, so that each starts at a multiple of its width.
enum class Dtype : std::uint8_t {
    boolean,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,
    f8_e8m0,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    c64,
    f64,
    i64,
    u64,
};

/// As files spell it: "BF16".
const char* dtype_name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view name);
std::vector<std::string> dtype_names();
/// Bytes of one element.
std::int64_t dtype_bytes(Dtype dtype);

/// Elements of a tensor of this shape (1 for an empty shape), or nothing where a dimension is
/// negative or the product exceeds 2^63 - 1.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape);
/// Bytes of such a tensor; nothing in the same cases.
std::optional<std::int64_t> tensor_bytes(Dtype dtype, const std::vector<std::int64_t>& shape);
/// "[2, 3]".
std::string shown_shape(const std::vector<std::int64_t>& shape);

}  // namespace sluice
