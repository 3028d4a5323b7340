// Are codes of 8 bits those of the definition, as near as they can be, and does SwiGLU's backward
// read them?
#include "engine/kernels/eight_bits.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/engine/cpu_kernels/float64_reference.h"

using namespace sluice;

namespace {

/// Memory for codes of (rows, 2 x width).
struct Codes {
    Codes(std::int64_t rows, std::int64_t width) {
        view.width = width;
        codes.assign(static_cast<std::size_t>(rows * 2 * width), 99);
        largest.assign(static_cast<std::size_t>(rows * 2 * view.groups()), 0x7fff);
        view.codes = codes.data();
        view.largest = largest.data();
    }
    float number(std::int64_t row, std::int64_t column) const {
        const std::int64_t half = column / view.width, group = column % view.width / kEightBitGroup;
        const auto at =
            static_cast<std::size_t>(row * 2 * view.groups() + half * view.groups() + group);
        return static_cast<float>(codes[static_cast<std::size_t>(row * 2 * view.width + column)]) *
               eight_bit_unit(largest[at]);
    }
    std::vector<std::int8_t> codes;
    std::vector<std::uint16_t> largest;
    EightBits view;
};

TestMatrix coded(const TestMatrix& gate_up, const Codes& to, std::int64_t width) {
    const std::int64_t rows = gate_up.matrix().rows;
    const TestMatrix product(gate_up.matrix().type, rows, width);
    kernels().swiglu(product.matrix(), gate_up.matrix(), nullptr, to.view);
    return product;
}

}  // namespace

TEST_CASE("eight bits: a group's largest number has code 127, others their share",
          "[cpu_kernels]") {
    // Width 130: groups of 128 and 2 in each half.
    const at::Tensor values = at::zeros({1, 260}, at::kDouble);
    values[0][0] = -2, values[0][1] = 1, values[0][2] = 0.0078125, values[0][127] = 0.5;
    values[0][128] = 4, values[0][129] = -3;
    values[0][130] = 1e-3;
    const TestMatrix gate_up = TestMatrix::of(DType::bf16, values);
    const Codes codes(1, 130);
    coded(gate_up, codes, 130);
    // 127 / 2 x 1 = 63.5, of two the even one; x 0.0078125 = 0.496; x 0.5 = 31.75.
    CHECK(codes.codes[0] == -127);
    CHECK(codes.codes[1] == 64);
    CHECK(codes.codes[2] == 0);
    CHECK(codes.codes[127] == 32);
    CHECK(codes.codes[128] == 127);
    CHECK(codes.codes[129] == -95);  // 95.25
    CHECK(codes.codes[130] == 127);
    CHECK(codes.codes[259] == 0);
    CHECK(codes.largest == std::vector<std::uint16_t>{0x4000, 0x4080, 0x3a83, 0});
}

TEST_CASE("eight bits: numbers are off by half a code at most", "[cpu_kernels]") {
    at::manual_seed(11);
    for (const DType type : {DType::bf16, DType::fp32}) {
        const TestMatrix gate_up = TestMatrix::random(type, 9, 2 * 300, 5);
        const Codes codes(9, 300);
        coded(gate_up, codes, 300);
        const at::Tensor values = gate_up.values();
        double worst = 0;
        for (std::int64_t row = 0; row < 9; ++row) {
            for (std::int64_t column = 0; column < 600; ++column) {
                const std::int64_t half = column / 300, first = column % 300 / 128 * 128;
                const std::int64_t begin = half * 300 + first,
                                   end = std::min(begin + 128, (half + 1) * 300);
                const double largest = values[row].slice(0, begin, end).abs().max().item<double>();
                const double error =
                    std::abs(codes.number(row, column) - values[row][column].item<double>());
                worst = std::max(worst, error / largest);
            }
        }
        // In fp32 the largest number is rounded to bf16, by 2^-9 of itself at most.
        CHECK(worst <= (type == DType::bf16 ? 0.5 / 127 : 0.5 / 127 + 0x1p-9) * (1 + 1e-5));
        CHECK(worst > 0.4 / 127);
    }
}

TEST_CASE("eight bits: a group with a number that is not finite becomes NaN", "[cpu_kernels]") {
    for (const double bad :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        const at::Tensor values = at::ones({1, 512}, at::kDouble);
        values[0][3] = bad;
        const TestMatrix gate_up = TestMatrix::of(DType::bf16, values);
        const Codes codes(1, 256);
        coded(gate_up, codes, 256);
        CHECK(std::isnan(codes.number(0, 0)));
        CHECK(std::isnan(codes.number(0, 127)));
        CHECK(codes.number(0, 128) == 1);
        CHECK(codes.number(0, 256) == 1);
    }
}

TEST_CASE("eight bits: SwiGLU's backward reads gate and up from codes", "[cpu_kernels]") {
    at::manual_seed(12);
    constexpr std::int64_t kRows = 70, kWidth = 200;
    for (const DType type : {DType::bf16, DType::fp32}) {
        const TestMatrix gate_up = TestMatrix::random(type, kRows, 2 * kWidth, 3);
        const Codes codes(kRows, kWidth);
        const TestMatrix product = coded(gate_up, codes, kWidth);
        const TestMatrix plain(type, kRows, kWidth);
        kernels().swiglu(plain.matrix(), gate_up.matrix());
        CHECK(plain.same_bits(product));
        // The values that backward reads, as numbers.
        const at::Tensor numbers = at::empty({kRows, 2 * kWidth}, at::kDouble);
        for (std::int64_t row = 0; row < kRows; ++row)
            for (std::int64_t column = 0; column < 2 * kWidth; ++column)
                numbers[row][column] = codes.number(row, column);
        const TestMatrix read = TestMatrix::of(DType::fp32, numbers);
        const TestMatrix dy = TestMatrix::random(type, kRows, kWidth), again = dy.copy(),
                         expected = TestMatrix::of(DType::fp32, dy.values());
        const TestMatrix gradient(type, kRows, 2 * kWidth);  // NaN: it is not read
        kernels().swiglu_backward(gradient.matrix(), again.matrix(), codes.view);
        kernels().swiglu_backward(read.matrix(), expected.matrix());
        const double rounding = type == DType::bf16 ? 0x1p-8 : 1e-6;
        CHECK(at::allclose(gradient.values(), read.values(), rounding, 1e-30));
        CHECK(at::allclose(again.values(), expected.values(), rounding, 1e-30));
    }
}
