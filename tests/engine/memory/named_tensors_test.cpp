#include <algorithm>
#include <map>
#include <set>

#include "engine/memory/parameter_store.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Shapes shapes_of(const ModelSpec& model) {
    Shapes shapes;
    for (const NamedTensor& tensor : named_tensors(model)) {
        CAPTURE(tensor.name);
        CHECK(shapes.try_emplace(tensor.name, tensor.shape).second);
    }
    return shapes;
}

ModelSpec one_layer(const std::string& library_name) {
    ModelSpec model = read_model(library_name);
    truncate_layers(model, 1);
    return model;
}

const std::vector<const char*> kNamedModels = {
    "qwen2.5-0.5b", "qwen2.5-7b",      "qwen3-0.6b",    "qwen3-8b",         "llama-3.2-1b",
    "llama-3.1-8b", "mistral-7b-v0.1", "qwen3-30b-a3b", "mixtral-8x7b-v0.1"};

}  // namespace

TEST_CASE("named tensors: together they are every parameter of the model once", "[memory]") {
    for (const char* name : kNamedModels) {
        const ModelSpec model = read_model(name);
        CAPTURE(name);
        std::map<int, std::map<std::int64_t, std::int64_t>> taken;  // section: begin -> end
        std::int64_t elements = 0;
        for (const NamedTensor& tensor : named_tensors(model)) {
            elements += tensor.elements();
            const auto& before = taken[tensor.section];
            CHECK((before.empty() || before.rbegin()->second <= tensor.offset));
            CHECK(taken[tensor.section]
                      .try_emplace(tensor.offset, tensor.offset + tensor.elements())
                      .second);
        }
        CHECK(elements == total_parameters(model));
        for (const auto& [section, ranges] : taken) {
            std::int64_t end = 0;
            for (const auto& [begin, to] : ranges) {
                CHECK(begin >= end);
                end = to;
            }
        }
    }
}

TEST_CASE("named tensors: Qwen2's names and shapes are those of its published files", "[memory]") {
    // Qwen2.5-0.5B: tied, so that its file has no lm_head.
    const std::string l = "model.layers.0.";
    const Shapes expected = {{"model.embed_tokens.weight", {151936, 896}},
                             {"model.norm.weight", {896}},
                             {l + "input_layernorm.weight", {896}},
                             {l + "post_attention_layernorm.weight", {896}},
                             {l + "self_attn.q_proj.weight", {896, 896}},
                             {l + "self_attn.q_proj.bias", {896}},
                             {l + "self_attn.k_proj.weight", {128, 896}},
                             {l + "self_attn.k_proj.bias", {128}},
                             {l + "self_attn.v_proj.weight", {128, 896}},
                             {l + "self_attn.v_proj.bias", {128}},
                             {l + "self_attn.o_proj.weight", {896, 896}},
                             {l + "mlp.gate_proj.weight", {4864, 896}},
                             {l + "mlp.up_proj.weight", {4864, 896}},
                             {l + "mlp.down_proj.weight", {896, 4864}}};
    CHECK(shapes_of(one_layer("qwen2.5-0.5b")) == expected);
}

TEST_CASE("named tensors: Qwen3 has norms of heads and no bias, Llama neither", "[memory]") {
    const std::string l = "model.layers.0.";
    Shapes qwen3 = shapes_of(one_layer("qwen3-8b"));
    CHECK(qwen3.at("lm_head.weight") == std::vector<std::int64_t>{151936, 4096});
    CHECK(qwen3.at(l + "self_attn.q_norm.weight") == std::vector<std::int64_t>{128});
    CHECK(qwen3.at(l + "self_attn.k_norm.weight") == std::vector<std::int64_t>{128});
    CHECK(qwen3.at(l + "self_attn.q_proj.weight") == std::vector<std::int64_t>{4096, 4096});
    CHECK(qwen3.at(l + "self_attn.k_proj.weight") == std::vector<std::int64_t>{1024, 4096});
    CHECK(qwen3.size() == 14);

    const Shapes llama = shapes_of(one_layer("llama-3.1-8b"));
    const Shapes expected = {{"lm_head.weight", {128256, 4096}},
                             {"model.embed_tokens.weight", {128256, 4096}},
                             {"model.norm.weight", {4096}},
                             {l + "input_layernorm.weight", {4096}},
                             {l + "post_attention_layernorm.weight", {4096}},
                             {l + "self_attn.q_proj.weight", {4096, 4096}},
                             {l + "self_attn.k_proj.weight", {1024, 4096}},
                             {l + "self_attn.v_proj.weight", {1024, 4096}},
                             {l + "self_attn.o_proj.weight", {4096, 4096}},
                             {l + "mlp.gate_proj.weight", {14336, 4096}},
                             {l + "mlp.up_proj.weight", {14336, 4096}},
                             {l + "mlp.down_proj.weight", {4096, 14336}}};
    CHECK(llama == expected);
}

TEST_CASE("named tensors: tied models have no output projection, untied ones one", "[memory]") {
    for (const char* name : kNamedModels) {
        const ModelSpec model = read_model(name);
        CAPTURE(name);
        CHECK(shapes_of(model).count("lm_head.weight") == (model.tied_embeddings ? 0 : 1));
    }
}

TEST_CASE("named tensors: norms and biases are told from matrices", "[memory]") {
    for (const char* name : kNamedModels) {
        for (const NamedTensor& tensor : named_tensors(read_model(name))) {
            CAPTURE(tensor.name);
            CHECK(tensor.is_norm == (tensor.name.find("norm") != std::string::npos));
            CHECK(tensor.is_bias == tensor.name.ends_with(".bias"));
            CHECK(tensor.shape.size() == (tensor.is_norm || tensor.is_bias ? 1 : 2));
        }
    }
}
