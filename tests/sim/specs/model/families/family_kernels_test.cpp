// Do the layers of every family run the products and norms that their tensors say?
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {
namespace {

std::vector<ModelSpec> models_of_families() {
    std::vector<ModelSpec> out;
    std::ifstream file(SLUICE_SOURCE_DIR "/tests/sim/specs/model/families/configs.json");
    for (const nlohmann::json& entry : nlohmann::json::parse(file))
        out.push_back(parse_hf_config(entry["config"].dump(), entry["name"].get<std::string>()));
    return out;
}

/// Elements of the matrices that one token multiplies with.
std::int64_t active_matrix_elements(const ModelSpec& model, const LayerSpec& layer) {
    std::int64_t vectors = 0;
    for (const ParameterTensor& tensor : layer_tensors(model, layer)) {
        if (tensor.columns != 1) continue;
        const bool of_experts =
            layer.feed_forward.experts > 0 && tensor.count == layer.feed_forward.experts;
        vectors += tensor.rows * (of_experts ? layer.feed_forward.experts_per_token : tensor.count);
    }
    return active_layer_parameters(model, layer) - vectors;
}

Flops products(const KernelList& kernels) {
    Flops total = 0;
    for (const Kernel& kernel : kernels)
        if (kernel.kind == KernelKind::gemm) total += kernel.flops;
    return total;
}

std::int64_t named(const KernelList& kernels, std::string_view start) {
    return std::ranges::count_if(kernels, [&](const Kernel& kernel) {
        return std::string_view(kernel.name).starts_with(start);
    });
}

}  // namespace

TEST_CASE("family kernels: a token does two FLOPs an element of its matrices, four in backward",
          "[model]") {
    for (const ModelSpec& model : models_of_families()) {
        CAPTURE(model.name);
        for (const LayerSpec& layer : model.kinds) {
            // As many rows for each expert.
            const TokenBlock block{1, 16 * std::max<std::int64_t>(1, layer.feed_forward.experts)};
            const double expected = 2.0 * static_cast<double>(block.tokens()) *
                                    static_cast<double>(active_matrix_elements(model, layer));
            const KernelList forward = forward_kernels(model, layer, block, KernelStyle::fused);
            const KernelList backward = backward_kernels(model, layer, block, KernelStyle::fused);
            CHECK(products(forward) == Approx(expected).epsilon(1e-12));
            CHECK(products(backward) == Approx(2 * expected).epsilon(1e-12));
        }
    }
}

TEST_CASE("family kernels: forward and backward run every norm of a layer once", "[model]") {
    for (const ModelSpec& model : models_of_families()) {
        CAPTURE(model.name);
        for (const LayerSpec& layer : model.kinds) {
            const TokenBlock block{1, 64};
            CHECK(named(forward_kernels(model, layer, block, KernelStyle::fused), "norm") ==
                  layer.norms);
            CHECK(named(backward_kernels(model, layer, block, KernelStyle::fused), "norm") ==
                  layer.norms);
        }
    }
}

TEST_CASE("family kernels: layers without positions rotate nothing, and gates scale once",
          "[model]") {
    std::int64_t unrotated = 0, gated = 0;
    for (const ModelSpec& model : models_of_families()) {
        CAPTURE(model.name);
        for (const LayerSpec& layer : model.kinds) {
            const AttentionSpec& a = layer.attention;
            const KernelList forward = forward_kernels(model, layer, {1, 64}, KernelStyle::fused);
            const bool rotates = a.rotary && model.learned_positions == 0;
            CHECK(named(forward, "rotary") == (rotates ? 1 : 0));
            CHECK(named(forward, "output gate") == (a.gate_width > 0 ? 1 : 0));
            unrotated += rotates ? 0 : 1;
            gated += a.gate_width > 0 ? 1 : 0;
        }
    }
    CHECK(unrotated > 5);
    CHECK(gated > 1);
}

}  // namespace sluice
