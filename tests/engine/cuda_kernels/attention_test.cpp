#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/attention_case.h"
#include "tests/engine/cuda_kernels/check_cases.h"

namespace sluice {
namespace {

/// sequences, sequence, heads, kv_heads, head_dim, window; then padding of the rows.
const std::vector<AttentionCase::Shape>& attention_shapes() {
    static const std::vector<AttentionCase::Shape> shapes{
        {{1, 128, 2, 2, 64}},
        {{2, 256, 4, 4, 128}},
        {{2, 128, 4, 2, 64}},   // grouped heads
        {{1, 128, 7, 1, 128}},  // all queries of one key head
        {{3, 100, 4, 2, 64}},   // sequence not a multiple of a tile
        {{1, 2, 2, 1, 64}},     // the shortest
        {{5, 3, 2, 1, 16}},
        {{2, 65, 2, 1, 8}},
        {{1, 200, 2, 1, 80}},
        {{1, 130, 2, 2, 256}},
        {{2, 256, 4, 2, 64, 64}},  // windows
        {{2, 256, 4, 2, 64, 1}},
        {{1, 100, 2, 1, 128, 33}},
        {{1, 100, 2, 1, 128, 100}},  // as wide as the sequence: none
        {{2, 128, 4, 2, 64}, {16, 0}},
    };
    return shapes;
}

TEST_CASE("attention: grouped heads, windows, sequences of any length", "[cuda_kernels]") {
    check_cases<AttentionCase>(attention_shapes());
}

TEST_CASE("attention: gradients of the same shapes", "[cuda_kernels]") {
    check_cases<AttentionBackwardCase>(attention_shapes());
}

TEST_CASE("attention: two runs give the same output", "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceMatrix qkv(512, 4 * 64), first(512, 2 * 64), second(512, 2 * 64);
    DeviceMatrix statistics(1, 2 * 512, DType::fp32);
    qkv.fill_random(1, {-2, 2});
    const AttentionShape shape{2, 256, 2, 1, 64};
    auto* const data = static_cast<float*>(statistics.view().data);
    gpu().kernels().attention(shape, qkv.view(), first.view(), data);
    gpu().kernels().attention(shape, qkv.view(), second.view(), data);
    CHECK(first.read() == second.read());
}

TEST_CASE("attention: gradients are the same in each run where that is asked for",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    const DeviceMemory scratch = allocate_on_device(kCudaScratchBytes);
    CudaKernels kernels(gpu().stream(), {scratch.get(), kCudaScratchBytes}, {true});
    const AttentionCase::Shape shape{{2, 512, 4, 2, 64}};
    AttentionBackwardCase first(shape), second(shape);
    CHECK(first.check(kernels) <= 1);
    CHECK(second.check(kernels) <= 1);
    CHECK(first.read_dqkv() == second.read_dqkv());
}

TEST_CASE("attention: heads and sequences that cuDNN cannot compute are the model's fault",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    REQUIRE_THROWS_AS(gpu().kernels().attention_workspace_bytes({1, 128, 2, 1, 20}), InputError);
    REQUIRE_THROWS_WITH(gpu().kernels().attention_workspace_bytes({1, 128, 2, 1, 20}),
                        ContainsSubstring("head_dim is 20"));
    REQUIRE_THROWS_WITH(gpu().kernels().attention_workspace_bytes({1, 1, 2, 1, 64}),
                        ContainsSubstring("sequence is 1"));
}

}  // namespace
}  // namespace sluice
