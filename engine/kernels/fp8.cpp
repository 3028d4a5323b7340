#include "engine/kernels/fp8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

struct Format {
    int mantissa_bits, least_exponent;
    int largest_code;   ///< finite
    int infinity_code;  ///< codes above it are NaN
};
constexpr Format format_of(DType type) {
    return type == DType::e4m3 ? Format{3, -6, 0x7e, 0x7f} : Format{2, -14, 0x7b, 0x7c};
}

}  // namespace

std::uint8_t to_fp8(float value, DType type) {
    if (std::isnan(value)) return 0x7f;
    const auto [bits, least, largest, infinity] = format_of(type);
    const int sign = std::signbit(value) ? 0x80 : 0;
    if (value == 0) return static_cast<std::uint8_t>(sign);
    if (std::isinf(value)) return static_cast<std::uint8_t>(sign | largest);
    const int exponent = std::max(std::ilogb(value), least);
    // In units of the last place, rounded half to even; 2^(bits + 1) carries into the exponent.
    const int units =
        static_cast<int>(std::nearbyint(std::scalbn(std::abs(value), bits - exponent)));
    const int code = exponent > 16 ? largest : ((exponent - least) << bits) + units;
    return static_cast<std::uint8_t>(sign | std::min(code, largest));
}

float from_fp8(std::uint8_t code, DType type) {
    const auto [bits, least, largest, infinity] = format_of(type);
    const int size = code & 0x7f;
    const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
    if (size > largest) {
        const bool infinite = type == DType::e5m2 && size == infinity;
        return infinite ? sign * std::numeric_limits<float>::infinity()
                        : std::numeric_limits<float>::quiet_NaN();
    }
    const int exponent = size >> bits, mantissa = size & ((1 << bits) - 1);
    const int units = exponent == 0 ? mantissa : (1 << bits) + mantissa;
    return sign * std::scalbn(static_cast<float>(units), least + std::max(exponent - 1, 0) - bits);
}

}  // namespace sluice
