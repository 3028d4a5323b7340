#include "engine/kernels/rotary_frequencies.h"
#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/heads_case.h"

namespace sluice {
namespace {

TEST_CASE("head_norm: heads of any size, grouped or not", "[cuda_kernels]") {
    check_cases<HeadNormCase>({
        {{1, 1, 1, 1, 8}},
        {{1, 5, 2, 2, 16}},
        {{2, 7, 6, 2, 20}},
        {{2, 33, 7, 1, 64}},
        {{3, 50, 8, 2, 128}},
        {{3, 50, 8, 2, 128}, false},
        {{1, 9, 3, 1, 80}},
        {{1, 9, 4, 2, 256}},
        {{1, 9, 4, 2, 250}},
        {{1, 9, 4, 2, 64}, true, {8, 0}},
        {{1, 9, 4, 2, 64}, true, {3, 1}},
    });
}

TEST_CASE("head_norm: gradients of heads of any size, grouped or not", "[cuda_kernels]") {
    check_cases<HeadNormBackwardCase>({
        {{1, 1, 1, 1, 8}},
        {{1, 5, 2, 2, 16}, DType::fp32, true},
        {{2, 7, 6, 2, 20}, DType::fp32, true},
        {{2, 33, 7, 1, 64}},
        {{2, 500, 8, 2, 128}},
        {{2, 500, 8, 2, 128}, DType::fp32, true},
        {{1, 9, 3, 1, 80}, DType::fp32},
        {{1, 9, 4, 2, 256}},
        {{1, 300, 4, 2, 250}, DType::fp32},
        {{1, 9, 4, 2, 64}, DType::bf16, false, {8, 0}},
        {{1, 9, 4, 2, 64}, DType::bf16, false, {3, 1}},
    });
}

TEST_CASE("rotary: forward and back, heads of any size", "[cuda_kernels]") {
    constexpr RotaryShape kQwen{1e6};
    constexpr RotaryShape kLlama{500000, 8, 1, 4, 8192};
    check_cases<RotaryCase>({
        {{1, 1, 1, 1, 8}},
        {{2, 5, 2, 1, 16}, {}, true},
        {{2, 7, 6, 2, 20}},
        {{3, 67, 7, 1, 64}, kQwen},
        {{1, 601, 8, 2, 128}, kLlama},
        {{1, 601, 8, 2, 128}, kLlama, true},
        {{1, 9, 4, 2, 256}, kQwen},
        {{1, 9, 4, 2, 64}, {}, false, {8, 0}},
        {{1, 9, 4, 2, 64}, {}, false, {3, 1}},
    });
}

TEST_CASE("rotary: angles at a million positions", "[cuda_kernels]") {
    check_cases<RotaryCase>({{{1, 1 << 20, 1, 1, 8}, {500000}}});
}

TEST_CASE("rotary: an odd head_dim is the model's fault", "[cuda_kernels]") {
    REQUIRE_THROWS_AS(rotary_frequencies({}, 15), InputError);
    REQUIRE_THROWS_WITH(rotary_frequencies({}, 15), ContainsSubstring("head_dim is 15"));
}

}  // namespace
}  // namespace sluice
