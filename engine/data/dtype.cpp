#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "engine/data/safetensors_header.h"

namespace sluice {
namespace {

struct DtypeEntry {
    const char* name;
    std::int64_t bytes;
};

constexpr DtypeEntry kDtypes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
    {"F32", 4},  {"C64", 8}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
static_assert(std::size(kDtypes) == static_cast<std::size_t>(Dtype::u64) + 1);

const DtypeEntry& entry(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

/// a * b; empty if it exceeds 2^63 - 1. Both are at least 0.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) return std::nullopt;
    return a * b;
}

}  // namespace

const char* dtype_name(Dtype dtype) { return entry(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kDtypes); ++i)
        if (kDtypes[i].name == name) return static_cast<Dtype>(i);
    return std::nullopt;
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
