#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/elementwise_case.h"

namespace sluice {
namespace {

const std::vector<SwigluCase::Shape>& swiglu_shapes() {
    static const std::vector<SwigluCase::Shape> shapes{
        {1, 8},           {3, 1},           {7, 40},
        {5, 257},         {3, 4096},        {3, 4104},  // just beyond a block's share
        {2, 18944},       {4, 64, {8, 0}},  {4, 64, {3, 0}},
        {4, 512, {0, 1}}, {4, 512, {}, 90}, {4, 512, {}, 0.01},
    };
    return shapes;
}

TEST_CASE("swiglu: rows of any width, stride and alignment", "[cuda_kernels]") {
    check_cases<SwigluCase>(swiglu_shapes());
}

TEST_CASE("swiglu: gradients of the same shapes", "[cuda_kernels]") {
    check_cases<SwigluBackwardCase>(swiglu_shapes());
}

TEST_CASE("cross_entropy: vocabularies of any size, rows without a target", "[cuda_kernels]") {
    check_cases<CrossEntropyCase>({
        {1, 8},
        {2, 257},
        {9, 1000, 0.25F, true},
        {40, 32000, 1e-3F, true},
        {5, 50257, 1},
        {4, 152064, 1.0F / 4096},
        {3, 262144},
        {9, 64, 1, true, {8, 0}},
        {9, 64, 1, true, {3, 0}},
        {9, 64, 1, true, {0, 1}},
        {9, 1000, 1, false, {}, 80},
        {9, 1000, 1, false, {}, 0},
    });
}

TEST_CASE("cross_entropy: the loss is the same in each run", "[cuda_kernels]") {
    if (!has_gpu()) return;
    std::vector<double> losses;
    for (int repeat = 0; repeat < 2; ++repeat) {
        DeviceMatrix logits(3000, 1000);
        logits.fill_random(1);
        const DeviceArray<std::int32_t> targets(std::vector<std::int32_t>(3000, 17));
        const DeviceArray<double> loss({0.0});
        gpu().kernels().cross_entropy(logits.view(), targets.data(), 1, loss.data());
        losses.push_back(loss.read()[0]);
    }
    CHECK(losses[0] == losses[1]);
}

TEST_CASE("cross_entropy: a target beyond the vocabulary is seen in the loss", "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceMatrix logits(2, 64);
    logits.fill_random(1);
    const DeviceArray<std::int32_t> targets({5, 64});
    const DeviceArray<double> loss({0.0});
    gpu().kernels().cross_entropy(logits.view(), targets.data(), 1, loss.data());
    CHECK(std::isnan(loss.read()[0]));
}

}  // namespace
}  // namespace sluice
