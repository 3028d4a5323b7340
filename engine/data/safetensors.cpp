#include "engine/data/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "sim/base/input_error.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors in files are little-endian");

/// IEEE half precision to single: the exponent is 112 larger. Subnormals get the exponent of 2^-14,
/// which is then subtracted; so no operand is subnormal, which some threads are set to read as 0.
float half_to_float(std::uint16_t half) {
    constexpr std::uint32_t kExponent = 0x7C00U << 13;
    constexpr std::uint32_t kSmallestNormal = 113U << 23;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t magnitude = (half & 0x7FFFU) << 13;
    const std::uint32_t exponent = magnitude & kExponent;
    const std::uint32_t normal = magnitude + (112U << 23);
    const auto subnormal = std::bit_cast<std::uint32_t>(
        std::bit_cast<float>(magnitude + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal));
    const std::uint32_t not_finite = magnitude | 0x7F800000U;
    return std::bit_cast<float>(sign | (exponent == 0           ? subnormal
                                        : exponent == kExponent ? not_finite
                                                                : normal));
}

template <typename Stored, typename Convert>
void convert_all(const std::byte* from, std::int64_t count, float* out, Convert convert) {
    for (std::int64_t i = 0; i < count; ++i) {
        Stored value;
        std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof(Stored)), sizeof(Stored));
        out[i] = convert(value);
    }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : file_(path), header_(read_safetensors_header(file_.bytes(), path)) {
    for (std::size_t i = 0; i < header_.tensors.size(); ++i) {
        index_.emplace(header_.tensors[i].name, i);
    }
}

std::vector<std::string> SafetensorsFile::names() const {
    std::vector<std::string> names;
    for (const TensorEntry& tensor : header_.tensors) names.push_back(tensor.name);
    return names;
}

bool SafetensorsFile::has(std::string_view name) const {
    return index_.contains(std::string(name));
}

TensorView SafetensorsFile::tensor(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    if (found == index_.end()) {
        const std::string hint = did_you_mean(name, names());
        throw InputError(fmt::format("{}: has no tensor {}{}", path(), in_quotes(name),
                                     hint.empty() ? "; give a checkpoint of this model" : hint));
    }
    const TensorEntry& entry = header_.tensors[found->second];
    return {path(), entry.name, entry.dtype, entry.shape,
            file_.bytes().subspan(static_cast<std::size_t>(entry.begin),
                                  static_cast<std::size_t>(entry.end - entry.begin))};
}

void read_as_fp32(const TensorView& tensor, std::int64_t begin, std::int64_t count, float* out) {
    if (begin < 0 || count < 0 || count > tensor.elements() || begin > tensor.elements() - count) {
        throw InternalError(fmt::format("{}: {} elements from {} asked for, {} has {}", tensor.file,
                                        count, begin, in_quotes(tensor.name), tensor.elements()));
    }
    const std::byte* from = tensor.bytes.data() + begin * dtype_bytes(tensor.dtype);
    switch (tensor.dtype) {
        case Dtype::bf16:
            return convert_all<std::uint16_t>(from, count, out, bf16_to_float);
        case Dtype::f16:
            return convert_all<std::uint16_t>(from, count, out, half_to_float);
        case Dtype::f32:
            return convert_all<float>(from, count, out, [](float value) { return value; });
        case Dtype::f64:
            return convert_all<double>(from, count, out,
                                       [](double value) { return static_cast<float>(value); });
        default:
            throw InputError(
                fmt::format("{}: tensor {} is {}, expected BF16, F16, F32 or F64; convert the "
                            "checkpoint to BF16",
                            tensor.file, in_quotes(tensor.name), dtype_name(tensor.dtype)));
    }
}

}  // namespace sluice
