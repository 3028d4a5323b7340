// The GPU's casts against the CPU's to the bit, and products of them against three loops in fp64.
#include <cmath>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_codes.h"

namespace sluice {
namespace {

using Codes = std::vector<std::uint8_t>;

/// A matrix on the device, its codes in both orders and their scale.
struct Cast {
    Cast(std::int64_t rows_, std::int64_t columns_, DType type_, unsigned seed, double range)
        : rows(rows_), columns(columns_), type(type_), in(rows, columns) {
        in.fill_random(seed, {-range, range});
    }
    void run() { gpu().kernels().cast_fp8({in.view(), matrix(), turned_matrix(), scale.data()}); }
    Matrix matrix() const { return {codes.data(), type, rows, columns}; }
    Matrix turned_matrix() const { return {turned.data(), type, columns, rows}; }
    double number(std::int64_t row, std::int64_t column) const {
        return double{
                   from_fp8(read_codes[static_cast<std::size_t>(row * columns + column)], type)} *
               double{read_scale.back};
    }
    void read() { read_codes = codes.read(), read_scale = scale.read().front(); }

    std::int64_t rows, columns;
    DType type;
    DeviceMatrix in;
    DeviceArray<std::uint8_t> codes{Codes(static_cast<std::size_t>(rows * columns))};
    DeviceArray<std::uint8_t> turned{Codes(static_cast<std::size_t>(rows * columns))};
    DeviceArray<Fp8Scale> scale{{Fp8Scale{}}};
    Codes read_codes;
    Fp8Scale read_scale;
};

TEST_CASE("cast_fp8: the CPU's codes to the bit, in both orders", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const DType type : {DType::e4m3, DType::e5m2}) {
        for (const double range : {1e-38, 1e-5, 1.0, 3e4, 1e38}) {
            for (const auto& [rows, columns] :
                 {std::pair{16, 16}, std::pair{272, 208}, std::pair{1040, 400}}) {
                CAPTURE(range, rows, columns);
                Cast cast(rows, columns, type, 1, range);
                cast.run();
                cast.read();
                const std::vector<double> values = cast.in.read();
                double largest = 0;
                for (const double value : values) largest = std::max(largest, std::abs(value));
                const float factor =
                    fp8_factor(std::bit_cast<std::uint32_t>(static_cast<float>(largest)), type);
                CHECK(cast.read_scale.back == 1 / factor);
                const Codes turned = cast.turned.read();
                int wrong = 0;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const std::uint8_t code = to_fp8(static_cast<float>(values[i]) * factor, type);
                    const std::size_t row = i / static_cast<std::size_t>(columns);
                    const std::size_t column = i % static_cast<std::size_t>(columns);
                    if (cast.read_codes[i] != code ||
                        turned[column * static_cast<std::size_t>(rows) + row] != code)
                        ++wrong;
                }
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("transpose_codes: the codes that a cast writes in the other order", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const auto& [rows, columns] :
         {std::pair{16, 16}, std::pair{272, 208}, std::pair{1040, 400}}) {
        CAPTURE(rows, columns);
        Cast cast(rows, columns, DType::e4m3, 1, 1.0);
        cast.run();
        const DeviceArray<std::uint8_t> out{Codes(static_cast<std::size_t>(rows * columns))};
        gpu().kernels().transpose_codes({out.data(), DType::e4m3, columns, rows}, cast.matrix());
        CHECK((out.read() == cast.turned.read()));
    }
}

TEST_CASE("cast_fp8: what is not finite makes all NaN", "[cuda_kernels]") {
    if (!has_gpu()) return;
    Cast cast(64, 64, DType::e5m2, 1, 1);
    cast.in.poison();
    cast.run();
    cast.read();
    CHECK(cast.read_codes == Codes(64 * 64, 0x7f));
}

TEST_CASE("cast_fp8: kernels find the largest number of what they write", "[cuda_kernels]") {
    if (!has_gpu()) return;
    CudaKernels& kernels = gpu().kernels();
    for (const auto& [rows, columns] : {std::pair{16, 16}, std::pair{300, 4112}, std::pair{7, 9}}) {
        CAPTURE(rows, columns);
        DeviceMatrix x(rows, columns), y(rows, columns), weight(1, columns),
            gate_up(rows, 2 * columns);
        x.fill_random(1), weight.fill_random(2), gate_up.fill_random(3, {-4, 4});
        DeviceArray<Fp8Scale> scale{{Fp8Scale{}}};
        const auto check = [](DeviceArray<Fp8Scale>& found, const DeviceMatrix& written) {
            double largest = 0;
            for (const double value : written.read()) largest = std::max(largest, std::abs(value));
            CHECK(found.read().front().largest ==
                  std::bit_cast<std::uint32_t>(static_cast<float>(largest)));
        };
        kernels.rms_norm(y.view(), x.view(), weight.vector(), 1e-5F, scale.data());
        check(scale, y);
        kernels.swiglu(y.view(), gate_up.view(), scale.data());
        check(scale, y);
    }
}

TEST_CASE("swiglu_backward_fp8: codes of casts of what swiglu_backward writes", "[cuda_kernels]") {
    if (!has_gpu()) return;
    CudaKernels& kernels = gpu().kernels();
    for (const auto& [rows, width] :
         {std::pair{16, 16}, std::pair{272, 208}, std::pair{1040, 400}}) {
        for (const double dy : {1.0, 1e-6, 0.0, std::nan("")}) {
            for (const bool coded : {false, true}) {
                CAPTURE(rows, width, dy, coded);
                Cast gradient(rows, 2 * width, DType::e5m2, 1, 4),
                    product(rows, width, DType::e4m3, 2, 1);
                if (dy != 1) product.in.fill_random(2, {-dy, dy});
                if (dy != dy) product.in.poison();
                const DeviceCodes kept(rows, width);
                DeviceMatrix forward(rows, width);
                if (coded) kernels.swiglu(forward.view(), gradient.in.view(), nullptr, kept.view);
                const EightBits codes = coded ? kept.view : EightBits{};
                const auto bytes = [](std::int64_t count) {
                    return DeviceArray<std::uint8_t>(Codes(static_cast<std::size_t>(count)));
                };
                const auto of_rows = bytes(rows * 2 * width), of_columns = bytes(rows * 2 * width),
                           products = bytes(rows * width);
                DeviceArray<Fp8Scale> scale{{Fp8Scale{}}}, other{{Fp8Scale{}}};
                kernels.swiglu_backward_fp8(gradient.in.view(), product.in.view(),
                                            {{of_rows.data(), DType::e5m2, rows, 2 * width},
                                             {of_columns.data(), DType::e5m2, 2 * width, rows},
                                             {products.data(), DType::e4m3, width, rows},
                                             scale.data(),
                                             other.data()},
                                            codes);
                kernels.swiglu_backward(gradient.in.view(), product.in.view(), codes);
                gradient.run(), product.run();
                CHECK(of_rows.read() == gradient.codes.read());
                CHECK(of_columns.read() == gradient.turned.read());
                CHECK(products.read() == product.turned.read());
                CHECK(scale.read().front().largest == gradient.scale.read().front().largest);
                CHECK(other.read().front().back == product.scale.read().front().back);
            }
        }
    }
}

TEST_CASE("gemm: products in FP8, with bias, addend and sums in fp32", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const std::int64_t m = 144, n = 96, k = 208;
    const auto check = [&](DType of_a, DType result, bool adds, bool bias_too) {
        Cast a(m, k, of_a, 1, 1e-3), b(n, k, DType::e4m3, 2, 2);
        a.run(), b.run();
        a.read(), b.read();
        DeviceMatrix d(m, n, result), addend(m, n, result), bias(1, n);
        addend.fill_random(3), bias.fill_random(4), d.fill_random(5);
        Kernels::Product product{d.view(), a.matrix(), b.matrix()};
        product.transpose_b = Transpose::yes;
        product.scale_a = a.scale.data(), product.scale_b = b.scale.data();
        product.accumulate = adds && result == DType::fp32;
        if (adds && !product.accumulate) product.addend = addend.view();
        if (bias_too) product.bias = bias.vector();
        std::vector<double> expected = product.accumulate ? d.read() : addend.read();
        const std::vector<double> added = bias.read();
        for (std::int64_t i = 0; i < m * n; ++i) {
            double sum = bias_too ? added[static_cast<std::size_t>(i % n)] : 0;
            for (std::int64_t j = 0; j < k; ++j) sum += a.number(i / n, j) * b.number(i % n, j);
            double& value = expected[static_cast<std::size_t>(i)];
            value = sum + (adds ? value : 0);
        }
        gpu().kernels().gemm(product);
        // Tensor cores keep 14 bits of a sum's terms (arXiv 2412.19437, section 3.3.2).
        const double terms = 2e-3 * static_cast<double>(k) * 0x1p-13;
        CHECK(share_of({terms, result == DType::bf16 ? kBf16Error : 1e-6}, d.read(), expected) <=
              1);
    };
    check(DType::e4m3, DType::bf16, false, true);
    check(DType::e4m3, DType::bf16, true, false);
    check(DType::e5m2, DType::bf16, false, false);
    check(DType::e5m2, DType::fp32, true, false);
}

}  // namespace
}  // namespace sluice
