// Which kernels does the loss run, and which of a layer's carry additions with them?
#include <algorithm>
#include <string_view>

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {
namespace {

int count(const KernelList& kernels, std::string_view name) {
    return static_cast<int>(std::count_if(kernels.begin(), kernels.end(),
                                          [&](const Kernel& k) { return k.name == name; }));
}

double added(const KernelList& kernels) {
    double total = 0;
    for (const Kernel& kernel : kernels) total += kernel.added_bytes;
    return total;
}

double bytes(const KernelList& kernels, std::string_view name) {
    double total = 0;
    for (const Kernel& kernel : kernels) total += kernel.name == name ? kernel.bytes : 0;
    return total;
}

constexpr TokenBlock kLossBlock{1, 1024, 0};

}  // namespace

TEST_CASE("loss kernels: three products over the vocabulary, however they are cut", "[model]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=256,vocabulary=500");
    const Flops all = 3 * 2.0 * 1000 * 256 * 500;
    for (const KernelStyle style : {KernelStyle::fused, KernelStyle::eager}) {
        for (const std::int64_t chunk : {1, 400, 1000, 4096}) {
            CAPTURE(chunk);
            CHECK(total_flops(loss_kernels(model, {1, 1000, 0}, chunk, style)) == all);
        }
    }
}

TEST_CASE("loss kernels: fused, the norms go chunk by chunk; in PyTorch once over all tokens",
          "[model]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=256,vocabulary=500");
    // 1000 tokens in chunks of 400: three, each three products and one cross-entropy; fused also
    // two norms each.
    const KernelList fused = loss_kernels(model, {1, 1000, 0}, 400, KernelStyle::fused);
    CHECK(fused.size() == 3 * 6);
    CHECK(fused[0].rows == 400);      // norm
    CHECK(fused[1].m == 400);         // logits
    CHECK(fused[2 * 6].rows == 200);  // the last chunk
    CHECK(fused[2 * 6 + 1].m == 200);
    CHECK(count(fused, "final norm backward") == 3);
    const KernelList eager = loss_kernels(model, {1, 1000, 0}, 400, KernelStyle::eager);
    CHECK(eager.size() == 3 * 4 + 2);
    CHECK(eager[0].rows == 1000);
    CHECK(eager[1].m == 400);
    CHECK(eager[9].m == 200);
    CHECK(eager.back().rows == 1000);
}

TEST_CASE("loss kernels: fused, each chunk's product adds the head's gradient to its sum",
          "[model]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=256,vocabulary=500");
    // 6 bytes more for each of 500 x 256 elements, in three chunks.
    CHECK(added(loss_kernels(model, {1, 1000, 0}, 400, KernelStyle::fused)) == 3 * 6.0 * 500 * 256);
    CHECK(added(loss_kernels(model, {1, 1000, 0}, 400, KernelStyle::eager)) == 0);
}

TEST_CASE("layer kernels: fused, two products add the residual; in PyTorch two kernels do",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList fused = forward_kernels(model, layer, kLossBlock, KernelStyle::fused);
    const KernelList eager = forward_kernels(model, layer, kLossBlock, KernelStyle::eager);
    for (const Kernel& kernel : fused) {
        const std::string_view name = kernel.name;
        CAPTURE(name);
        CHECK(kernel.added == (name == "attention output" || name == "down"));
    }
    // Each reads 1024 x 3584 of the stream in bf16.
    CHECK(added(fused) == 2 * 2.0 * 1024 * 3584);
    CHECK(count(fused, "residual") == 0);
    CHECK(added(eager) == 0);
    CHECK(count(eager, "residual") == 2);
}

TEST_CASE("layer kernels: where a norm stands between, a kernel adds the residual", "[model]") {
    // Gemma 2 norms what attention and feed-forward give before it is added: two kernels read the
    // stream and what is added to it, and write the sum: 6 bytes for each of 1024 x 4608.
    const ModelSpec model = read_model("gemma-2-27b");
    const LayerSpec& layer = model.layer(0);
    REQUIRE(layer.norms == 4);
    const KernelList forward = forward_kernels(model, layer, kLossBlock, KernelStyle::fused);
    CHECK(added(forward) == 0);
    CHECK(count(forward, "residual") == 2);
    CHECK(bytes(forward, "residual") == 2 * 6.0 * 1024 * 4608);
    // Recomputation needs the first sum only: the second is the next layer's input, which is kept.
    CHECK(count(recompute_kernels(model, layer, kLossBlock, Recompute::full), "residual") == 1);
}

TEST_CASE("layer kernels: experts' outputs meet in a kernel that adds the residual", "[model]") {
    for (const char* name : {"mixtral-8x7b-v0.1", "deepseek-v3"}) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        const LayerSpec& layer = model.layer(model.layer_count() - 1);
        REQUIRE(layer.feed_forward.experts > 0);
        const double stream = 1024.0 * static_cast<double>(model.hidden);
        const KernelList forward = forward_kernels(model, layer, kLossBlock, KernelStyle::fused);
        for (const Kernel& kernel : forward)
            CHECK(kernel.added == (std::string_view(kernel.name) == "attention output"));
        CHECK(added(forward) == 2 * stream);  // read in bf16
        CHECK(count(forward, "residual") == 0);
        CHECK(count(forward, "sum of experts") == 1);
        const auto copies = static_cast<double>(layer.feed_forward.experts_per_token);
        CHECK(bytes(forward, "sum of experts") == 2 * (copies + 2) * stream);
        CHECK(count(forward_kernels(model, layer, kLossBlock, KernelStyle::eager), "residual") ==
              2);
    }
    // A dense layer of the same model has both in its products.
    const ModelSpec model = read_model("deepseek-v3");
    const KernelList dense = forward_kernels(model, model.layer(0), kLossBlock, KernelStyle::fused);
    CHECK(added(dense) == 2 * 2.0 * 1024 * 7168);
    CHECK(count(dense, "residual") == 0);
}

TEST_CASE("layer kernels: weight gradients are summed by their products where there are sums",
          "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const LayerSpec& layer = model.layer(0);
    const KernelList alone = backward_kernels(model, layer, kLossBlock, KernelStyle::fused);
    const KernelList summed = backward_kernels(model, layer, kLossBlock, KernelStyle::fused, true);
    CHECK(added(alone) == 0);
    // qkv 4608, attention output 3584, gate and up 37888 rows of 3584, and down 3584 of 18944: 6
    // bytes more an element.
    CHECK(added(summed) == 6.0 * 3584 * (4608 + 3584 + 37888 + 18944));
    CHECK(alone.size() == summed.size());
    CHECK(total_flops(alone) == total_flops(summed));
}

TEST_CASE("layer kernels: biases of q, k and v have a gradient kernel, heads' norms their own",
          "[model]") {
    const auto backward = [](const char* name) {
        const ModelSpec model = read_model(name);
        return backward_kernels(model, model.layer(0), kLossBlock, KernelStyle::fused);
    };
    const KernelList biased = backward("qwen2.5-7b"), normed = backward("qwen3-8b");
    CHECK(count(biased, "bias gradient") == 1);
    CHECK(count(biased, "head norm backward") == 0);
    CHECK(count(normed, "bias gradient") == 0);
    CHECK(count(normed, "head norm backward") == 1);
    for (const Kernel& kernel : biased) {
        if (kernel.work != MemoryBoundWork::bias_backward) continue;
        CHECK(kernel.rows == 1024);
        CHECK(kernel.columns == 4608);  // 28 + 2 x 4 heads of 128
    }
    for (const Kernel& kernel : normed) {
        if (kernel.work != MemoryBoundWork::head_norm_backward) continue;
        CHECK(kernel.rows == 1024);
        CHECK(kernel.columns == (32 + 8) * 128);  // q and k
    }
    const ModelSpec model = read_model("qwen3-8b");
    const KernelList forward =
        forward_kernels(model, model.layer(0), kLossBlock, KernelStyle::fused);
    CHECK(count(forward, "head norm") == 1);
    CHECK(count(forward, "rotary") == 1);
}

TEST_CASE("loss kernels: whole fp32 logits, forward one product, backward two", "[model]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=256,vocabulary=500");
    const Flops product = 2.0 * 1000 * 256 * 500;
    const KernelList forward = whole_loss_forward_kernels(model, {1, 1000, 0}, KernelStyle::plain);
    const KernelList backward =
        whole_loss_backward_kernels(model, {1, 1000, 0}, KernelStyle::plain);
    CHECK(total_flops(forward) == product);
    CHECK(total_flops(backward) == 2 * product);
    // Each logit: bf16 read, fp32 written, read and its log-softmax written at the least.
    CHECK(bytes(forward, "cross-entropy in fp32") > 14.0 * 1000 * 500);
    CHECK(bytes(backward, "cross-entropy in fp32 backward") > 14.0 * 1000 * 500);
    // torch.nn.RMSNorm is one kernel, the module of transformers six.
    const KernelList eager = whole_loss_forward_kernels(model, {1, 1000, 0}, KernelStyle::eager);
    CHECK(forward[0].launches < eager[0].launches);
    CHECK(forward[0].bytes < eager[0].bytes);
}

}  // namespace sluice
