#include <ATen/ATen.h>

#include <cmath>

#include "engine/kernels/cpu_kernels.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// A matrix, its codes in both orders and their scale.
struct Cast {
    Cast(std::int64_t rows, std::int64_t columns, DType type)
        : in(at::randn({rows, columns}).to(at::kBFloat16)),
          codes(at::empty({rows, columns}, at::kByte)),
          turned(at::empty({columns, rows}, at::kByte)),
          out(codes.data_ptr(), type, rows, columns),
          transposed(turned.data_ptr(), type, columns, rows) {}
    void run() {
        kernels->cast_fp8(
            {{in.data_ptr(), DType::bf16, in.size(0), in.size(1)}, out, transposed, &scale});
    }
    /// The numbers that the codes stand for.
    at::Tensor numbers() const {
        return codes.view(out.type == DType::e4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2)
                   .to(at::kFloat) *
               scale.back;
    }
    std::unique_ptr<Kernels> kernels = make_cpu_kernels(1);
    at::Tensor in, codes, turned;
    Matrix out, transposed;
    Fp8Scale scale;
};

}  // namespace

TEST_CASE("cast_fp8: codes of libtorch, scaled by a power of two, in both orders", "[kernels]") {
    at::manual_seed(1);
    for (const DType type : {DType::e4m3, DType::e5m2}) {
        Cast cast(48, 32, type);
        cast.in.mul_(3);
        cast.run();
        CHECK(cast.turned.equal(cast.codes.t()));
        const auto theirs = type == DType::e4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
        const at::Tensor expected = (cast.in.to(at::kFloat) / cast.scale.back).to(theirs);
        CHECK(cast.codes.equal(expected.view(at::kByte)));
        // Half a unit in the last place: 2^-4 of a value in e4m3, 2^-3 in e5m2.
        const double rounding = type == DType::e4m3 ? 0x1p-4 : 0x1p-3;
        CHECK(at::allclose(cast.numbers(), cast.in.to(at::kFloat), rounding, 1e-4));
    }
}

TEST_CASE("cast_fp8: zeros stay zeros, and what is not finite makes all NaN", "[kernels]") {
    Cast cast(16, 16, DType::e4m3);
    cast.in.zero_();
    cast.run();
    CHECK(cast.scale.back == 1);
    CHECK(cast.codes.count_nonzero().item<std::int64_t>() == 0);
    for (const float bad : {INFINITY, NAN}) {
        cast.in[3][5] = bad;
        cast.run();
        CHECK(cast.numbers().isnan().all().item<bool>());
    }
}

TEST_CASE("cast_fp8: the kernel that wrote a tensor has found its largest number", "[kernels]") {
    at::manual_seed(3);
    const std::int64_t rows = 32, columns = 48;
    Cast cast(rows, columns, DType::e4m3), again(rows, columns, DType::e4m3);
    const at::Tensor x = at::randn({rows, columns}).to(at::kBFloat16),
                     weight = at::randn({columns}).to(at::kBFloat16),
                     gate_up = at::randn({rows, 2 * columns}).to(at::kBFloat16);
    const auto matrix = [](const at::Tensor& t) {
        return Matrix(t.data_ptr(), DType::bf16, t.size(0), t.size(1));
    };
    const auto check = [&](const at::Tensor& written) {
        cast.kernels->cast_fp8({matrix(written), cast.out, {}, &cast.scale, true});
        again.kernels->cast_fp8({matrix(written), again.out, {}, &again.scale});
        CHECK(cast.codes.equal(again.codes));
        CHECK(cast.scale.back == again.scale.back);
    };
    Kernels& kernels = *cast.kernels;
    kernels.rms_norm(matrix(cast.in), matrix(x), {weight.data_ptr(), DType::bf16, columns}, 1e-5F,
                     &cast.scale);
    check(cast.in);
    kernels.swiglu(matrix(cast.in), matrix(gate_up), &cast.scale);
    check(cast.in);
}

TEST_CASE("swiglu_backward_fp8: codes of casts of what swiglu_backward writes", "[kernels]") {
    at::manual_seed(4);
    const std::int64_t rows = 32, width = 48;
    Cast gradient(rows, 2 * width, DType::e5m2), product(rows, width, DType::e4m3);
    const auto kernels = make_cpu_kernels(1);
    const auto matrix = [](const at::Tensor& t) {
        return Matrix(t.data_ptr(), DType::bf16, t.size(0), t.size(1));
    };
    const at::Tensor codes = at::empty({rows, 2 * width}, at::kByte),
                     columns = at::empty({2 * width, rows}, at::kByte),
                     products = at::empty({width, rows}, at::kByte);
    Fp8Scale gradient_scale, product_scale;
    for (const double dy : {1.0, 1e-6, 0.0, std::nan("")}) {
        CAPTURE(dy);
        const at::Tensor gate_up = at::randn({rows, 2 * width}).to(at::kBFloat16),
                         dproduct = at::randn({rows, width}).mul_(dy).to(at::kBFloat16);
        gradient.in.copy_(gate_up), product.in.copy_(dproduct);
        kernels->swiglu_backward_fp8(matrix(gate_up), matrix(dproduct),
                                     {{codes.data_ptr(), DType::e5m2, rows, 2 * width},
                                      {columns.data_ptr(), DType::e5m2, 2 * width, rows},
                                      {products.data_ptr(), DType::e4m3, width, rows},
                                      &gradient_scale,
                                      &product_scale});
        kernels->swiglu_backward(matrix(gradient.in), matrix(product.in));
        gradient.run(), product.run();
        CHECK(codes.equal(gradient.codes));
        CHECK(columns.equal(gradient.turned));
        CHECK(products.equal(product.turned));
        CHECK(gradient_scale.largest == gradient.scale.largest);
        CHECK(product_scale.back == product.scale.back);
    }
}

TEST_CASE("gemm: a product in FP8 is that of the numbers its codes stand for", "[kernels]") {
    at::manual_seed(2);
    Cast a(32, 48, DType::e5m2), b(16, 48, DType::e4m3);
    a.in.mul_(1e-6);
    a.run(), b.run();
    const at::Tensor d = at::ones({32, 16});
    a.kernels->gemm({.d = {d.data_ptr(), DType::fp32, 32, 16},
                     .a = a.out,
                     .b = b.out,
                     .transpose_b = Transpose::yes,
                     .accumulate = true,
                     .scale_a = &a.scale,
                     .scale_b = &b.scale});
    const at::Tensor expected = 1 + at::mm(a.numbers(), b.numbers().t());
    CHECK(at::allclose(d, expected, 1e-6, 0));
}
