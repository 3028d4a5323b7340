// The GPU's codes of 8 bits against the CPU's to the bit, and SwiGLU's gradients from them against
// the formulas in fp64.
#include <cmath>
#include <limits>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_codes.h"

namespace sluice {
namespace {

struct HostCodes {
    std::vector<std::int8_t> codes;
    std::vector<std::uint16_t> largest;
};

std::uint16_t bits_of(double bf16) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(bf16)) >> 16);
}

/// Codes of rows of `width` bf16.
HostCodes codes_of(const std::vector<double>& values, std::int64_t width) {
    HostCodes out;
    for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(width)) {
        for (std::int64_t begin = 0; begin < width; begin += kEightBitGroup) {
            const double* const group = &values[row + static_cast<std::size_t>(begin)];
            const std::int64_t count = std::min(kEightBitGroup, width - begin);
            std::uint16_t most = 0;
            for (std::int64_t i = 0; i < count; ++i)
                most = std::max<std::uint16_t>(most, bits_of(group[i]) & 0x7fffU);
            for (std::int64_t i = 0; i < count; ++i)
                out.codes.push_back(
                    to_eight_bits(static_cast<float>(group[i]), eight_bit_factor(most)));
            out.largest.push_back(most);
        }
    }
    return out;
}

TEST_CASE("eight bits: the CPU's codes to the bit", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const double range : {1e-38, 1e-3, 4.0, 1e30}) {
        for (const auto& [rows, width] :
             {std::pair{1, 8}, std::pair{3, 136}, std::pair{5, 4104}, std::pair{2, 18944}}) {
            CAPTURE(range, rows, width);
            DeviceMatrix gate_up(rows, 2 * width), product(rows, width), plain(rows, width);
            gate_up.fill_random(1, {-range, range});
            const DeviceCodes codes(rows, width);
            gpu().kernels().swiglu(product.view(), gate_up.view(), nullptr, codes.view);
            gpu().kernels().swiglu(plain.view(), gate_up.view());
            const HostCodes expected = codes_of(gate_up.read(), width);
            CHECK(codes.largest.read() == expected.largest);
            CHECK(codes.codes.read() == expected.codes);
            CHECK(product.read() == plain.read());
        }
    }
}

TEST_CASE("eight bits: a matrix that is not finite gives NaN again", "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceMatrix gate_up(2, 512), product(2, 256), gradient(2, 512), dy(2, 256);
    gate_up.poison();
    dy.fill_random(1);
    const DeviceCodes codes(2, 256);
    gpu().kernels().swiglu(product.view(), gate_up.view(), nullptr, codes.view);
    gpu().kernels().swiglu_backward(gradient.view(), dy.view(), codes.view);
    for (const double value : gradient.read()) CHECK(std::isnan(value));
}

TEST_CASE("eight bits: SwiGLU's gradients from codes", "[cuda_kernels]") {
    if (!has_gpu()) return;
    constexpr double kScale = 4;
    for (const auto& shape :
         {std::pair{1, 8}, std::pair{3, 136}, std::pair{5, 4104}, std::pair{2, 18944}}) {
        const int rows = shape.first, width = shape.second;
        CAPTURE(rows, width);
        DeviceMatrix gate_up(rows, 2 * width), dy(rows, width), product(rows, width),
            gradient(rows, 2 * width);
        gate_up.fill_random(1, {-kScale, kScale});
        dy.fill_random(2);
        const std::vector<double> gradients = dy.read();
        const DeviceCodes codes(rows, width);
        gpu().kernels().swiglu(product.view(), gate_up.view(), nullptr, codes.view);
        gpu().kernels().swiglu_backward(gradient.view(), dy.view(), codes.view);
        const HostCodes coded = codes_of(gate_up.read(), width);
        const std::int64_t groups = codes.view.groups();
        const auto number = [&](std::int64_t half, std::int64_t i) {
            const auto group = static_cast<std::size_t>(half * groups + i / kEightBitGroup);
            const auto at = static_cast<std::size_t>(half * width + i);
            return double{static_cast<float>(coded.codes[at]) *
                          eight_bit_unit(coded.largest[group])};
        };
        std::vector<double> expected(static_cast<std::size_t>(rows * 2 * width)),
            products(static_cast<std::size_t>(rows * width));
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t i = 0; i < width; ++i) {
                const double gate = number(2 * row, i), up = number(2 * row + 1, i),
                             sigmoid = 1 / (1 + std::exp(-gate));
                const auto at = static_cast<std::size_t>(row * width + i),
                           to = static_cast<std::size_t>(row * 2 * width + i);
                expected[to] = gradients[at] * up * sigmoid * (1 + gate * (1 - sigmoid));
                expected[to + static_cast<std::size_t>(width)] = gradients[at] * gate * sigmoid;
                products[at] = gate * sigmoid * up;
            }
        }
        CHECK(share_of({3e-6 * kScale, kBf16Error}, gradient.read(), expected) <= 1);
        CHECK(share_of({1e-6, kBf16Error}, dy.read(), products) <= 1);
    }
}

TEST_CASE("eight bits: a width that is no multiple of 8 is refused", "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceMatrix gate_up(2, 20), product(2, 10);
    const DeviceCodes codes(2, 10);
    CHECK_THROWS_AS(gpu().kernels().swiglu(product.view(), gate_up.view(), nullptr, codes.view),
                    InputError);
}

}  // namespace
}  // namespace sluice
