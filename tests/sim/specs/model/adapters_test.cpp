// Do adapters and experts in turn do the work that their shapes say: parameters and FLOPs by hand?
#include "sim/specs/model/adapters.h"

#include <algorithm>

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {
namespace {

constexpr TokenBlock kAdaptedBlock{1, 1024, 0};

Flops product_flops(const KernelList& kernels) {
    Flops sum = 0;
    for (const Kernel& kernel : kernels)
        if (kernel.kind == KernelKind::gemm) sum += kernel.flops;
    return sum;
}

double traffic_of(const KernelList& kernels, std::string_view name) {
    double bytes = 0;
    for (const Kernel& kernel : kernels)
        if (kernel.name == name) bytes += kernel.bytes;
    return bytes;
}

}  // namespace

TEST_CASE("adapters: parameters of a layer of Qwen2.5-7B, rank 8") {
    const ModelSpec model = read_model("qwen2.5-7b");
    // q: 3584 + 3584, k and v: 512 + 3584 each, output, gate and up: 18944 + 3584 each, down.
    constexpr std::int64_t kBoth = 7168 + 2 * 4096 + 7168 + 2 * 22528 + 22528;
    CHECK(adapter_parameters(model, model.layer(0), 8) == 8 * kBoth);
    CHECK(adapter_parameters(model, model.layer(0), 0) == 0);
}

TEST_CASE("adapters: experts that are one tensor have none") {
    const ModelSpec model = read_model("gpt-oss-20b");
    // q: 4096, k and v: 512, output, router: 32; all from or to 2880.
    constexpr std::int64_t kBoth = (4096 + 2880) + 2 * (512 + 2880) + (2880 + 4096) + (32 + 2880);
    CHECK(adapter_parameters(model, model.layer(0), 1) == kBoth);
}

TEST_CASE(
    "adapters: forward adds two small products, backward has no gradients of frozen weights") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    constexpr std::int64_t kRank = 8;
    const auto forward = [&](std::int64_t rank) {
        return product_flops(
            forward_kernels(model, layer, kAdaptedBlock, KernelStyle::eager, {}, rank));
    };
    const auto backward = [&](std::int64_t rank) {
        return product_flops(
            backward_kernels(model, layer, kAdaptedBlock, KernelStyle::eager, false, {}, rank));
    };
    const double adapters =
        2.0 * 1024 * static_cast<double>(adapter_parameters(model, layer, kRank));
    CHECK(forward(kRank) - forward(0) == Approx(adapters));
    // Half of backward is gradients of weights, which the adapters' take the place of.
    CHECK(backward(kRank) - backward(0) / 2 == Approx(2 * adapters));
}

TEST_CASE("adapters: nothing below the first layer's projections needs a gradient") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    constexpr std::int64_t kRank = 8;
    const double all = product_flops(
        backward_kernels(model, layer, kAdaptedBlock, KernelStyle::plain, false, {}, kRank));
    const double first = product_flops(
        first_backward_kernels(model, layer, kAdaptedBlock, KernelStyle::plain, kRank));
    // dy W of q, k and v, and of their three adapters' A.
    constexpr double kHidden = 3584, kProjections = 3584 + 2 * 512;
    CHECK(all - first == Approx(2.0 * 1024 * kHidden * (kProjections + 3 * kRank)));
    CHECK(adapter_tensors(model, layer, 8) == 2 * 7);
}

TEST_CASE("losses: a frozen head has no gradient; fused, each chunk's logits are its gradients") {
    const ModelSpec model = read_model("llama-3.1-8b");
    const TokenBlock block{8, 1024, 0};
    const double product = 2.0 * 8192 * 4096 * 128256;
    const auto flops = [&](bool frozen) {
        return product_flops(whole_loss_backward_kernels(model, block, KernelStyle::plain, frozen));
    };
    CHECK(flops(false) == Approx(2 * product));
    CHECK(flops(true) == Approx(product));
    // 32 chunks of 4,096 words; 256 tokens each.
    CHECK(fused_loss_chunk(model, block.tokens()) == 256);
    const KernelList fused = fused_loss_forward_kernels(model, block, KernelStyle::plain, true);
    CHECK(product_flops(fused) == Approx(2 * product));
    CHECK(std::ranges::count(fused, 256, &Kernel::m) == 2 * 32);
}

TEST_CASE("experts in turn: the same products, one expert after another") {
    const ModelSpec model = read_model("qwen3-30b-a3b");
    const LayerSpec& layer = model.layer(0);
    const auto kernels = [&](KernelStyle style) {
        KernelList all = forward_kernels(model, layer, kAdaptedBlock, style);
        for (const Kernel& kernel : backward_kernels(model, layer, kAdaptedBlock, style))
            all.push_back(kernel);
        return all;
    };
    const KernelList together = kernels(KernelStyle::eager), turn = kernels(KernelStyle::modules);
    CHECK(product_flops(turn) == Approx(product_flops(together)));
    // Gate, up and down of 128 experts with 64 rows each.
    const auto experts = std::count_if(turn.begin(), turn.end(), [](const Kernel& kernel) {
        return kernel.kind == KernelKind::gemm && kernel.role == GemmRole::forward &&
               kernel.m == 64 && kernel.count == 1;
    });
    CHECK(experts == 128 * 3);
    CHECK(total_launches(turn) > 10 * total_launches(together));
}

TEST_CASE("experts in turn: each gradient of stacked weights is as large as all of them") {
    const ModelSpec model = read_model("gpt-oss-20b");
    const KernelList backward =
        backward_kernels(model, model.layer(0), kAdaptedBlock, KernelStyle::modules);
    // 32 times zeros written (2 bytes a number) and added to the sum (6).
    CHECK(traffic_of(backward, "gradients of all experts") ==
          Approx(32 * 8.0 * 32 * 3 * 2880 * 2880));
}

}  // namespace sluice
