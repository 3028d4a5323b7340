// Which tensors does a safetensors file have according to its header, with which types and shapes,
// and is that consistent?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The types of the safetensors format with whole bytes, in its order: files hold the tensors of
/// later types first, so that each starts at a multiple of its width.
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

/// The name in files: "BF16".
const char* dtype_name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view name);
std::vector<std::string> dtype_names();
/// Bytes of one element.
std::int64_t dtype_bytes(Dtype dtype);

/// Elements of a tensor of this shape (1 for an empty shape); empty if a dimension is negative or
/// the product exceeds 2^63 - 1.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape);
/// Bytes of such a tensor; empty in the same cases.
std::optional<std::int64_t> tensor_bytes(Dtype dtype, const std::vector<std::int64_t>& shape);
/// "[2, 3]".
std::string shown_shape(const std::vector<std::int64_t>& shape);

/// The same limit as in the format's other readers.
inline constexpr std::int64_t kMaxSafetensorsHeader = 100'000'000;

struct TensorEntry {
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;  ///< bytes from the start of the file
};

/// Reads and checks the header of a whole file (8 bytes: length of the header, little-endian; the
/// header, JSON; the data). The tensors, in the order of their bytes, then lie within `file`,
/// without gap or overlap, each with the bytes of its dtype and shape. Otherwise throws InputError;
/// `path` is used only in messages.
std::vector<TensorEntry> read_safetensors_header(std::span<const std::byte> file,
                                                 const std::string& path);

/// A name from a file, in quotes, on one line and short enough for a message.
std::string in_quotes(std::string_view name);

}  // namespace sluice
