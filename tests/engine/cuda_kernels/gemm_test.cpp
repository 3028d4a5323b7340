#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/gemm_case.h"

namespace sluice {
namespace {

using Added = GemmCase::Added;
constexpr Transpose kNo = Transpose::no, kYes = Transpose::yes;

TEST_CASE("gemm: products of a forward pass, x W^T with bias or addend", "[cuda_kernels]") {
    check_cases<GemmCase>({
        {128, 256, 64, kNo, kYes},
        {128, 256, 64, kNo, kYes, DType::bf16, Added::nothing, true},
        {128, 256, 64, kNo, kYes, DType::bf16, Added::addend},
        {96, 72, 40, kNo, kYes, DType::bf16, Added::addend, true},
        {1, 24, 40, kNo, kYes, DType::bf16, Added::nothing, true},
        {33, 40, 24, kNo, kYes, DType::bf16, Added::addend, false, {8, 0}},
    });
}

TEST_CASE("gemm: products of a backward pass, dy W and dy^T x", "[cuda_kernels]") {
    check_cases<GemmCase>({
        {128, 64, 256, kNo, kNo},
        {256, 64, 128, kYes, kNo},
        {256, 64, 128, kYes, kNo, DType::fp32},
        {256, 64, 128, kYes, kNo, DType::fp32, Added::sum},
        {40, 24, 1, kYes, kNo, DType::fp32, Added::sum},
        {72, 40, 1000, kYes, kNo, DType::fp32, Added::sum, false, {24, 0}},
        {64, 48, 32, kYes, kYes, DType::fp32},
    });
}

TEST_CASE("gemm: sizes and addresses that no vector load fits", "[cuda_kernels]") {
    check_cases<GemmCase>({
        {7, 257, 33, kNo, kYes},
        {257, 7, 33, kNo, kNo},
        {33, 257, 7, kYes, kNo, DType::fp32, Added::sum},
        {33, 257, 7, kYes, kNo},
        {16, 24, 8, kNo, kYes, DType::bf16, Added::addend, true, {3, 1}},
        {1, 1, 1, kNo, kYes},
    });
}

TEST_CASE("gemm: the same kind of product again, at other addresses", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (int repeat = 0; repeat < 3; ++repeat) {
        GemmCase with_bias({64, 32, 16, kNo, kYes, DType::bf16, Added::nothing, true});
        CHECK(with_bias.check(gpu().kernels()) <= 1);
    }
}

TEST_CASE("gemm: matrices that do not fit each other are our own bug", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const DeviceMatrix d(8, 16), a(8, 24), b(32, 16);
    const Kernels::Product product{d.view(), a.view(), b.view()};
    REQUIRE_THROWS_AS(gpu().kernels().gemm(product), InternalError);
    REQUIRE_THROWS_WITH(
        gpu().kernels().gemm(product),
        ContainsSubstring("(8 x 24, stride 24)") && ContainsSubstring("(32 x 16, stride 16)"));
}

}  // namespace
}  // namespace sluice
