// Does a layer do the work that its shape says: FLOPs and bytes counted by hand?
#include "sim/specs/model/layer_kernels.h"

#include <string_view>

#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {
namespace {

constexpr TokenBlock kBlock{1, 1024, 0};

// Qwen2.5-7B, one layer, 1024 tokens: hidden 3584, 28 + 2 x 4 heads of 128, intermediate 18944.
constexpr Flops kQkvFlops = 2.0 * 1024 * 4608 * 3584;      //  33 822 867 456
constexpr Flops kOutputFlops = 2.0 * 1024 * 3584 * 3584;   //  26 306 674 688
constexpr Flops kGateUpFlops = 2.0 * 1024 * 37888 * 3584;  // 278 099 132 416
constexpr Flops kDownFlops = 2.0 * 1024 * 3584 * 18944;    // 139 049 566 208
constexpr Flops kProducts = kQkvFlops + kOutputFlops + kGateUpFlops + kDownFlops;
// Half of 1024 x 1024 pairs, a score and a sum of 2 x 128 FLOPs each, 28 heads.
constexpr Flops kAttention = 1024.0 * 1024 / 2 * 4 * 128 * 28;  // 7 516 192 768

Flops flops_of(const KernelList& kernels, KernelKind kind) {
    Flops total = 0;
    for (const Kernel& kernel : kernels) {
        if (kernel.kind == kind) total += kernel.flops;
    }
    return total;
}

bool has(const KernelList& kernels, std::string_view name) {
    for (const Kernel& kernel : kernels) {
        if (kernel.name == name) return true;
    }
    return false;
}

/// Elements of the matrices that one token multiplies with: vectors (norms, biases) left out.
std::int64_t active_matrix_elements(const ModelSpec& model, const LayerSpec& layer) {
    std::int64_t vectors = 0;
    for (const ParameterTensor& tensor : layer_tensors(model, layer)) {
        if (tensor.columns != 1) continue;
        const bool of_experts = tensor.count == layer.feed_forward.experts;
        vectors += tensor.rows * (of_experts ? layer.feed_forward.experts_per_token : tensor.count);
    }
    return active_layer_parameters(model, layer) - vectors;
}

}  // namespace

TEST_CASE("layer kernels: forward of a Qwen2.5-7B layer does 484.8 GFLOP on 1024 tokens",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const KernelList forward = forward_kernels(model, model.layer(0), kBlock, KernelStyle::fused);
    CHECK(flops_of(forward, KernelKind::gemm) == kProducts);
    CHECK(flops_of(forward, KernelKind::attention_forward) == kAttention);
    CHECK(total_flops(forward) == 484'794'433'536.0);
}

TEST_CASE("layer kernels: recompute lacks exactly the down projection", "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList forward = forward_kernels(model, layer, kBlock, KernelStyle::fused);
    const KernelList again = recompute_kernels(model, layer, kBlock, Recompute::full);
    CHECK(total_flops(forward) - total_flops(again) == kDownFlops);
    CHECK(has(forward, "down"));
    CHECK_FALSE(has(again, "down"));
    CHECK(flops_of(again, KernelKind::attention_forward) == kAttention);
}

TEST_CASE("layer kernels: a norm behind the feed-forward makes recompute repeat all of it",
          "[model]") {
    const ModelSpec model = read_model("gemma-2-27b");
    const LayerSpec& layer = model.layer(0);
    CHECK(total_flops(recompute_kernels(model, layer, kBlock, Recompute::full)) ==
          total_flops(forward_kernels(model, layer, kBlock, KernelStyle::fused)));
}

TEST_CASE("layer kernels: keeping attention drops attention from recompute, no product",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const KernelList again =
        recompute_kernels(model, model.layer(0), kBlock, Recompute::keep_attention);
    CHECK(total_flops(again) == kProducts - kDownFlops);
    CHECK_FALSE(has(again, "attention"));
}

TEST_CASE("layer kernels: forward again is forward without what was kept", "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const auto again = [&](Recompute kept) {
        return forward_again_kernels(model, layer, kBlock, kept);
    };
    const KernelList forward = forward_kernels(model, layer, kBlock, KernelStyle::fused);
    CHECK(total_flops(again(Recompute::full)) == total_flops(forward));
    CHECK(total_bytes(again(Recompute::full)) == total_bytes(forward));
    CHECK(total_flops(again(Recompute::keep_attention)) == kProducts - kQkvFlops);
    CHECK_FALSE(has(again(Recompute::keep_attention), "rotary"));
    // Gate and up, down: three matrices of 3584 x 18944.
    CHECK(total_flops(again(Recompute::none)) == 3 * kDownFlops);
}

TEST_CASE("layer kernels: keeping everything leaves the norms", "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList again = recompute_kernels(model, layer, kBlock, Recompute::none);
    CHECK(total_flops(again) == 0);
    CHECK(again.size() == 2);
    double restored = 0;
    for (const Kernel& kernel : forward_kernels(model, layer, kBlock, KernelStyle::fused)) {
        if (std::string_view(kernel.name) == "norm") restored += kernel.bytes;
    }
    CHECK(total_bytes(again) == Approx(restored));
    // Each norm at least reads and writes 1024 x 3584 in bf16.
    CHECK(restored >= 2 * 4.0 * 1024 * 3584);
}

TEST_CASE("layer kernels: backward does twice the products and 2.5 times the attention",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const KernelList backward = backward_kernels(model, model.layer(0), kBlock, KernelStyle::fused);
    CHECK(flops_of(backward, KernelKind::gemm) == 2 * kProducts);
    CHECK(flops_of(backward, KernelKind::attention_backward) == 2.5 * kAttention);
    CHECK(total_flops(backward) == 2 * kProducts + 2.5 * kAttention);
}

TEST_CASE("layer kernels: every library layer's backward does twice its products", "[model]") {
    for (const std::string& name : library_models()) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        for (const LayerSpec& layer : model.kinds) {
            const KernelList forward = forward_kernels(model, layer, kBlock, KernelStyle::fused);
            const KernelList backward = backward_kernels(model, layer, kBlock, KernelStyle::fused);
            CHECK(flops_of(backward, KernelKind::gemm) == 2 * flops_of(forward, KernelKind::gemm));
            CHECK(flops_of(backward, KernelKind::attention_backward) ==
                  2.5 * flops_of(forward, KernelKind::attention_forward));
        }
    }
}

TEST_CASE("layer kernels: 28 layers of Qwen2.5-7B do the 48.400 GFLOP a token that were measured",
          "[model]") {
    // The count behind kernels.gemm_sustained_tflops of the H200's profile: products only.
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const Flops of_layer =
        flops_of(forward_kernels(model, layer, kBlock, KernelStyle::fused), KernelKind::gemm) +
        flops_of(recompute_kernels(model, layer, kBlock, Recompute::full), KernelKind::gemm) +
        flops_of(backward_kernels(model, layer, kBlock, KernelStyle::fused), KernelKind::gemm);
    CHECK(28 * of_layer / 1024 == Approx(48.400e9).epsilon(1e-5));
}

TEST_CASE("layer kernels: the style changes bytes and launches, never FLOPs", "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList fused = forward_kernels(model, layer, kBlock, KernelStyle::fused);
    const KernelList eager = forward_kernels(model, layer, kBlock, KernelStyle::eager);
    CHECK(total_flops(fused) == total_flops(eager));
    CHECK(total_bytes(eager) > total_bytes(fused));
    // Fused: 2 norms, 4 products, rotary, attention, activation; two products add the residual.
    CHECK(total_launches(fused) == 9);
    // Eager: 2 additions; a norm is 7 kernels, rotary 5, the activation 2.
    CHECK(total_launches(eager) == 9 + 2 + 2 * 6 + 4 + 1);
}

TEST_CASE("layer kernels: attention grows with the square of the sequence, products with tokens",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList one_long = forward_kernels(model, layer, {1, 4096, 0}, KernelStyle::fused);
    const KernelList four_short = forward_kernels(model, layer, {4, 1024, 0}, KernelStyle::fused);
    CHECK(flops_of(one_long, KernelKind::gemm) == 4 * kProducts);
    CHECK(flops_of(four_short, KernelKind::gemm) == 4 * kProducts);
    CHECK(flops_of(one_long, KernelKind::attention_forward) == 16 * kAttention);
    CHECK(flops_of(four_short, KernelKind::attention_forward) == 4 * kAttention);
}

TEST_CASE("layer kernels: experts do two FLOPs a token and active matrix element", "[model]") {
    constexpr TokenBlock block{4, 1024,
                               0};  // 4096 tokens: every expert of all five gets equally many
    for (const char* name : {"mixtral-8x7b-v0.1", "qwen3-30b-a3b", "qwen3-235b-a22b", "gpt-oss-20b",
                             "gpt-oss-120b", "deepseek-v3"}) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        const LayerSpec& layer = model.layer(model.layer_count() - 1);
        const KernelList forward = forward_kernels(model, layer, block, KernelStyle::fused);
        CHECK(flops_of(forward, KernelKind::gemm) ==
              2.0 * 4096 * static_cast<double>(active_matrix_elements(model, layer)));
    }
}

TEST_CASE("layer kernels: a sparse DeepSeek V3 layer by hand", "[model]") {
    // Latent attention: 1536 x 7168 + 128 x 192 x 1536 + 576 x 7168 + 128 x 256 x 512
    // + 7168 x 16384 = 187105280. Router 256 x 7168 = 1835008. Eight experts and the shared one:
    // 9 x 3 x 2048 x 7168 = 396361728. Together 585302016.
    const ModelSpec model = read_model("deepseek-v3");
    const KernelList forward =
        forward_kernels(model, model.layer(60), {1, 4096, 0}, KernelStyle::fused);
    CHECK(flops_of(forward, KernelKind::gemm) == 2.0 * 4096 * 585'302'016);
    // Half of 4096 x 4096 pairs; a score over 192, a sum over 128, 2 FLOPs each, 128 heads.
    CHECK(flops_of(forward, KernelKind::attention_forward) ==
          4096.0 * 4096 / 2 * 2 * (192 + 128) * 128);
}

TEST_CASE("layer kernels: tokens that experts cannot share evenly round up to a row each",
          "[model]") {
    const ModelSpec model = read_model("qwen3-30b-a3b");
    const LayerSpec& layer = model.layer(0);
    const KernelList forward = forward_kernels(model, layer, {1, 1000, 0}, KernelStyle::fused);
    const Flops even = 2.0 * 1000 * static_cast<double>(active_matrix_elements(model, layer));
    // 8000 rows over 128 experts are 62.5, so 63 each: 64 rows more, of 3 x 768 x 2048 each.
    CHECK(flops_of(forward, KernelKind::gemm) - even == 2.0 * 64 * 3 * 768 * 2048);
}

TEST_CASE("layer kernels: tokens that reach few experts do the same products in fewer kernels",
          "[model]") {
    const ModelSpec model = read_model("gpt-oss-20b");
    const LayerSpec& layer = model.layer(0);
    const auto backward = [&](std::int64_t busy) {
        return backward_kernels(model, layer, {1, 1024, 0, busy}, KernelStyle::modules, false);
    };
    CHECK(total_flops(backward(4)) == Approx(total_flops(backward(0))));
    CHECK(total_flops(backward(4)) == Approx(total_flops(backward(32))));
    // The gradients of all 32 experts' weights are written for each busy expert, and added twice.
    const double of_one = 4 * 2.0 * 32 * (2 * 2880 + 2880) * 2880;
    CHECK(total_bytes(backward(32)) - total_bytes(backward(4)) > 28 * of_one);
    CHECK(total_launches(backward(4)) < total_launches(backward(32)) / 4);
}

TEST_CASE("layer kernels: one token wakes only the experts it is sent to", "[model]") {
    const ModelSpec model = read_model("mixtral-8x7b-v0.1");
    const LayerSpec& layer = model.layer(0);
    const KernelList forward = forward_kernels(model, layer, {1, 1, 0}, KernelStyle::fused);
    for (const Kernel& kernel : forward) {
        if (std::string_view(kernel.name) != "expert down") continue;
        CHECK(kernel.count == 2);
        CHECK(kernel.m == 1);
    }
    CHECK(has(forward, "expert down"));
    CHECK(flops_of(forward, KernelKind::gemm) ==
          2.0 * static_cast<double>(active_matrix_elements(model, layer)));
}

TEST_CASE("layer kernels: a sliding window bounds the pairs that attention scores", "[model]") {
    const ModelSpec model = read_model("mistral-7b-v0.1");
    const LayerSpec& layer = model.layer(0);
    LayerSpec full = layer;
    full.attention.window = 0;
    const auto attention = [&](const LayerSpec& of, std::int64_t sequence) {
        return flops_of(forward_kernels(model, of, {1, sequence, 0}, KernelStyle::fused),
                        KernelKind::attention_forward);
    };
    // Window 4096 of 8192: 4096 x 8192 less the corner of 4096 x 4096 / 2 = 25165824 pairs,
    // 4 x 128 FLOPs each, 32 heads; without the window 33554432 pairs.
    CHECK(attention(layer, 8192) == 25'165'824.0 * 4 * 128 * 32);
    CHECK(attention(full, 8192) == 33'554'432.0 * 4 * 128 * 32);
    // A sequence no longer than the window sees all of itself.
    CHECK(attention(layer, 4096) == attention(full, 4096));
    CHECK(attention(layer, 1000) == attention(full, 1000));
}

TEST_CASE("layer kernels: a feed-forward in chunks does the same FLOPs and reads weights again",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList whole = forward_kernels(model, layer, {1, 1024, 0}, KernelStyle::fused);
    const KernelList chunks = forward_kernels(model, layer, {1, 1024, 400}, KernelStyle::fused);
    CHECK(total_flops(chunks) == total_flops(whole));
    // 400 + 400 + 224 tokens: two times more the weights of gate and up, and of down, in bf16.
    CHECK(total_bytes(chunks) - total_bytes(whole) == 2 * 2.0 * 3 * 18'944 * 3584);
    CHECK(chunks.size() == whole.size() + 2 * 3);
    const KernelList backward = backward_kernels(model, layer, {1, 1024, 400}, KernelStyle::fused);
    CHECK(flops_of(backward, KernelKind::gemm) == 2 * kProducts);
}

TEST_CASE("layer kernels: learned positions need no rotary kernels", "[model]") {
    ModelSpec model = parse_generic_model("layers=1,hidden=256,vocabulary=100");
    const auto rotary = [&] {
        return has(forward_kernels(model, model.layer(0), kBlock, KernelStyle::fused), "rotary") ||
               has(backward_kernels(model, model.layer(0), kBlock, KernelStyle::fused), "rotary");
    };
    CHECK(rotary());
    model.learned_positions = 1024;
    CHECK_FALSE(rotary());
}

TEST_CASE("layer kernels: experts whose gate and up are kept get their tokens again", "[model]") {
    const ModelSpec model = read_model("mixtral-8x7b-v0.1");
    const KernelList again = recompute_kernels(model, model.layer(0), kBlock, Recompute::none);
    CHECK(has(again, "route"));
    CHECK(has(again, "copies to experts"));
    CHECK_FALSE(has(again, "activation"));
    CHECK(total_flops(again) == 2.0 * 1024 * 8 * 4096);  // of the router
}

}  // namespace sluice
