#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/rms_norm_case.h"

namespace sluice {
namespace {

using Result = RmsNormBackwardCase::Result;

TEST_CASE("rms_norm: rows of any width, stride and alignment", "[cuda_kernels]") {
    check_cases<RmsNormCase>({
        {1, 24},
        {7, 40},
        {3, 1},
        {5, 257},
        {300, 896},
        {9, 2048},
        {9, 3584},
        {2, 8192},
        {2, 16384},
        {2, 16392},           // the first width that does not stay in registers
        {4, 64, {8, 0}},      // padding
        {4, 64, {3, 0}},      // rows not aligned
        {4, 64, {0, 1}},      // nothing aligned
        {4, 128, {}, 0.001},  // epsilon counts
        {4, 128, {}, 1000.0},
    });
}

TEST_CASE("rms_norm: gradients of rows of any width, stride and alignment", "[cuda_kernels]") {
    check_cases<RmsNormBackwardCase>({
        {1, 24},
        {7, 40, true},
        {3, 1, true},
        {5, 257, true, DType::fp32, true},
        {2000, 896, true, DType::fp32, true},
        {9, 2048},
        {2000, 3584, true},
        {9, 8192, true, DType::fp32, true},
        {9, 16384, true},
        {9, 16392, true, DType::fp32},
        {40, 64, false, DType::bf16, false, Result::own, {8, 0}},
        {40, 64, true, DType::bf16, false, Result::own, {3, 0}},
        {40, 64, true, DType::fp32, true, Result::own, {0, 1}},
        {40, 128, true, DType::bf16, false, Result::own, {}, 0.001},
        {40, 128, true, DType::bf16, false, Result::own, {}, 100.0},
    });
}

TEST_CASE("rms_norm: dx may be x or dy", "[cuda_kernels]") {
    check_cases<RmsNormBackwardCase>({
        {600, 256, false, DType::bf16, false, Result::dy},
        {600, 256, false, DType::bf16, false, Result::x},
        {600, 256, true, DType::fp32, true, Result::dy},
        {33, 257, false, DType::bf16, false, Result::dy},
        {33, 257, false, DType::bf16, false, Result::x},
    });
}

TEST_CASE("rms_norm: the gradient of the weight is the same in each run", "[cuda_kernels]") {
    if (!has_gpu()) return;
    RmsNormBackwardCase first({5000, 896, false, DType::fp32});
    RmsNormBackwardCase second({5000, 896, false, DType::fp32});
    first.run(gpu().kernels());
    second.run(gpu().kernels());
    CHECK(first.read_dweight() == second.read_dweight());
}

TEST_CASE("rms_norm: matrices that do not fit each other are our own bug", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const DeviceMatrix y(4, 16), x(4, 24), weight(1, 24);
    REQUIRE_THROWS_AS(gpu().kernels().rms_norm(y.view(), x.view(), weight.vector(), 1e-5F),
                      InternalError);
    REQUIRE_THROWS_WITH(gpu().kernels().rms_norm(y.view(), x.view(), weight.vector(), 1e-5F),
                        ContainsSubstring("rms_norm: y is bf16 4 x 16") &&
                            ContainsSubstring("expected bf16 4 x 24"));
}

}  // namespace
}  // namespace sluice
