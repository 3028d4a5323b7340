#include "engine/data/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sluice {
namespace {

struct DtypeEntry {
    Dtype dtype;
    const char* name;
    std::int64_t bytes;
};

constexpr std::array<DtypeEntry, 17> kDtypes = {{
    {Dtype::boolean, "BOOL", 1},
    {Dtype::u8, "U8", 1},
    {Dtype::i8, "I8", 1},
    {Dtype::f8_e5m2, "F8_E5M2", 1},
    {Dtype::f8_e4m3, "F8_E4M3", 1},
    {Dtype::f8_e8m0, "F8_E8M0", 1},
    {Dtype::i16, "I16", 2},
    {Dtype::u16, "U16", 2},
    {Dtype::f16, "F16", 2},
    {Dtype::bf16, "BF16", 2},
    {Dtype::i32, "I32", 4},
    {Dtype::u32, "U32", 4},
    {Dtype::f32, "F32", 4},
    {Dtype::c64, "C64", 8},
    {Dtype::f64, "F64", 8},
    {Dtype::i64, "I64", 8},
    {Dtype::u64, "U64", 8},
}};

constexpr bool in_order_of_enum() {
    for (std::size_t i = 0; i < kDtypes.size(); ++i) {
        if (static_cast<std::size_t>(kDtypes[i].dtype) != i) return false;
    }
    return true;
}
static_assert(in_order_of_enum());

const DtypeEntry& entry(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

/// a * b, or nothing beyond 2^63 - 1; both at least 0.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) return std::nullopt;
    return a * b;
}

}  // namespace

const char* dtype_name(Dtype dtype) { return entry(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view name) {
    const auto found = std::find_if(kDtypes.begin(), kDtypes.end(),
                                    [&](const DtypeEntry& known) { return known.name == name; });
    if (found == kDtypes.end()) return std::nullopt;
    return found->dtype;
}

std::vector<std::string> dtype_names() {
    std::vector<std::string> names;
    for (const DtypeEntry& known : kDtypes) names.emplace_back(known.name);
    return names;
}

std::int64_t dtype_bytes(Dtype dtype) { return entry(dtype).bytes; }

std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) {
    std::optional<std::int64_t> count = 1;
    for (const std::int64_t size : shape) {
        if (size < 0) return std::nullopt;
        count = product(*count, size);
        if (!count) return std::nullopt;
    }
    return count;
}

std::optional<std::int64_t> tensor_bytes(Dtype dtype, const std::vector<std::int64_t>& shape) {
    const auto count = element_count(shape);
    if (!count) return std::nullopt;
    return product(*count, dtype_bytes(dtype));
}

std::string shown_shape(const std::vector<std::int64_t>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace sluice
