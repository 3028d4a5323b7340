#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/sums_case.h"

namespace sluice {
namespace {

TEST_CASE("bias_backward: columns of any number, rows of any number", "[cuda_kernels]") {
    check_cases<BiasBackwardCase>({
        {1, 8},
        {3, 1},
        {33, 40, DType::fp32, true},
        {1000, 257, DType::fp32},
        {5000, 4608, DType::fp32, true},
        {5000, 264},
        {100, 64, DType::bf16, false, {8, 0}},
        {100, 64, DType::bf16, false, {3, 0}},
        {100, 64, DType::fp32, true, {0, 1}},
    });
}

TEST_CASE("sum_squares: vectors of any length and alignment", "[cuda_kernels]") {
    check_cases<SumSquaresCase>({
        {1},
        {7},
        {8},
        {4097},
        {3000001},
        {3000001, DType::bf16, 1},
        {5, DType::fp32},
        {1000002, DType::fp32},
        {1000002, DType::fp32, 1},
    });
}

TEST_CASE("sum_squares: the same in each run", "[cuda_kernels]") {
    if (!has_gpu()) return;
    SumSquaresCase first({3000001}), second({3000001});
    first.run(gpu().kernels());
    second.run(gpu().kernels());
    CHECK(first.read() == second.read());
}

TEST_CASE("round_to_bf16: vectors of any length and alignment", "[cuda_kernels]") {
    check_cases<RoundCase>({{1}, {7}, {8}, {4097}, {1000003}, {1000003, 1}});
}

TEST_CASE("fill_zero: all bytes and no other", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const DeviceMatrix values(1, 1001);
    gpu().kernels().fill_zero(values.view().data, 2002);
    CHECK(values.read() == std::vector<double>(1001, 0.0));
    CHECK(values.surroundings_intact());
}

}  // namespace
}  // namespace sluice
