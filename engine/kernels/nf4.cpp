#include "engine/kernels/nf4.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/units.h"

namespace sluice {
namespace {

constexpr std::int64_t kGroup = kNf4Block * kNf4Scales;

/// Numbers or blocks of a group.
std::int64_t last_of(std::int64_t begin, std::int64_t step, std::int64_t end) {
    return std::min(begin + step, end);
}

float largest_of(const std::uint16_t* weights, std::int64_t begin, std::int64_t end) {
    std::uint16_t largest = 0;  // bits without the sign are in the order of the numbers
    for (std::int64_t i = begin; i < end; ++i)
        largest = std::max(largest, static_cast<std::uint16_t>(weights[i] & 0x7fff));
    return bf16_to_float(largest);
}

/// The code of the nearest number. `x` is NaN or 0 in blocks of zeros.
unsigned nearest_4_bits(float x) {
    unsigned code = 0;
    for (std::size_t i = 1; i < kNf4Numbers.size(); ++i)
        code += x > (kNf4Numbers[i - 1] + kNf4Numbers[i]) * 0.5F ? 1 : 0;
    return code;
}

/// dQuantize<0> of kernels.cu: ties go where its search ends.
std::uint8_t nearest_8_bits(const std::array<float, 256>& numbers, float x) {
    int pivot = 127, above = 255, below = 0;
    const auto at = [&](int i) { return numbers[static_cast<std::size_t>(i)]; };
    float lower = -1, upper = 1, value = at(pivot);
    for (int i = 64; i > 0; i >>= 1) {
        if (x > value) {
            below = pivot, lower = value;
            pivot += i;
        } else {
            above = pivot, upper = value;
            pivot -= i;
        }
        value = at(pivot);
    }
    if (above == 255) upper = at(above);
    if (below == 0) lower = at(below);
    if (x > value) return static_cast<std::uint8_t>(x > (upper + value) * 0.5F ? above : pivot);
    return static_cast<std::uint8_t>(x < (lower + value) * 0.5F ? below : pivot);
}

std::uint16_t nearest_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace

const std::array<float, 256>& dynamic_numbers() {
    static const std::array<float, 256> kNumbers = [] {
        constexpr int kExponents = 7;
        constexpr float kFirst = 0.1F, kLast = 1;
        std::array<float, 256> out{};  // one is 0
        std::size_t next = 0;
        out[next++] = 1;
        for (int exponent = 0; exponent < kExponents; ++exponent) {
            // torch.linspace() from 0.1 to 1: from either end, with fused products.
            const int numbers = 1 << exponent;
            const float step = (kLast - kFirst) / static_cast<float>(numbers);
            const auto bound = [&](int i) {
                return i < (numbers + 1) / 2
                           ? std::fma(step, static_cast<float>(i), kFirst)
                           : std::fma(-step, static_cast<float>(numbers - i), kLast);
            };
            const auto power = static_cast<float>(std::pow(10.0, exponent + 1 - kExponents));
            for (int i = 0; i < numbers; ++i) {
                const float number = power * ((bound(i) + bound(i + 1)) / 2);
                out[next++] = number;
                out[next++] = -number;
            }
        }
        std::ranges::sort(out);
        return out;
    }();
    return kNumbers;
}

double nf4_sum(const std::uint16_t* weights, const Nf4Tensor& tensor, std::int64_t group) {
    double sum = 0;
    const std::int64_t end = last_of(group * kGroup, kGroup, tensor.elements);
    for (std::int64_t at = group * kGroup; at < end; at += kNf4Block)
        sum += double{largest_of(weights, at, last_of(at, kNf4Block, end))};
    return sum;
}

void encode_nf4(const std::uint16_t* weights, const Nf4Tensor& tensor, std::int64_t group,
                float mean) {
    std::array<float, kNf4Scales> above{};  // the mean
    float most = 0;
    const std::int64_t begin = group * kGroup, end = last_of(begin, kGroup, tensor.elements);
    std::uint8_t* const codes = tensor.codes();
    std::size_t block = 0;
    for (std::int64_t at = begin; at < end; at += kNf4Block, ++block) {
        const std::int64_t stop = last_of(at, kNf4Block, end);
        const float largest = largest_of(weights, at, stop),
                    inverse = 1 / std::max(largest, 1e-38F);
        above[block] = largest - mean;
        most = std::max(most, std::abs(above[block]));
        const auto code = [&](std::int64_t i) {
            return i < stop ? nearest_4_bits(bf16_to_float(weights[i]) * inverse) : 0U;
        };
        for (std::int64_t i = at; i < stop; i += 2)
            codes[i / 2] = static_cast<std::uint8_t>(code(i) << 4 | code(i + 1));
    }
    tensor.largest()[group] = most;
    const std::array<float, 256>& numbers = dynamic_numbers();
    const float inverse = most > 0 ? 1 / most : 0;
    for (std::size_t i = 0; i < block; ++i)
        tensor.scales()[group * kNf4Scales + static_cast<std::int64_t>(i)] =
            nearest_8_bits(numbers, above[i] * inverse);
}

void decode_nf4(std::uint16_t* out, const Nf4Tensor& tensor, std::int64_t group) {
    const std::array<float, 256>& numbers = dynamic_numbers();
    const float most = tensor.largest()[group], mean = *tensor.mean();
    const std::int64_t begin = group * kGroup, end = last_of(begin, kGroup, tensor.elements);
    for (std::int64_t at = begin; at < end; at += kNf4Block) {
        // Two roundings, as of two kernels; a compiler may not fuse what is rounded from fp64.
        const double above = double{numbers[tensor.scales()[at / kNf4Block]]} * double{most};
        const float scale = static_cast<float>(above) + mean;
        for (std::int64_t i = at; i < last_of(at, kNf4Block, end); ++i) {
            const unsigned pair = tensor.codes()[i / 2];
            out[i] = nearest_bf16(kNf4Numbers[i % 2 == 0 ? pair >> 4 : pair & 15U] * scale);
        }
    }
}

}  // namespace sluice
