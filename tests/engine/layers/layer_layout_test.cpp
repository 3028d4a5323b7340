#include <algorithm>
#include <functional>

#include "engine/layers/layer_form.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

ModelSpec trainable_model() {
    ModelSpec model = parse_generic_model(
        "layers=1,hidden=40,heads=2,kv_heads=1,head_dim=6,intermediate=14,vocabulary=33");
    model.name = "mine";
    model.family = "llama";
    return model;
}

struct RefusedLayer {
    std::function<void(ModelSpec&, LayerSpec&)> change;
    const char* what;
};

const std::vector<RefusedLayer> kRefusals = {
    {[](ModelSpec&, LayerSpec& l) {
         l.feed_forward.experts = 8, l.feed_forward.intermediate = 100;
     },
     "experts of a width that is no multiple of 8"},
    {[](ModelSpec&, LayerSpec& l) {
         l.feed_forward.experts = 8, l.feed_forward.shared_intermediate = 8;
     },
     "experts that all tokens share"},
    {[](ModelSpec&, LayerSpec& l) { l.attention.latent = true; }, "latent attention"},
    {[](ModelSpec&, LayerSpec& l) { l.attention.sinks = true; }, "attention sinks"},
    {[](ModelSpec&, LayerSpec& l) { l.attention.output_bias = true; }, "attention output"},
    {[](ModelSpec&, LayerSpec& l) { l.feed_forward.gated = false; }, "without a gate"},
    {[](ModelSpec&, LayerSpec& l) { l.feed_forward.bias = true; }, "biases in the feed-forward"},
    {[](ModelSpec&, LayerSpec& l) { l.norms = 4; }, "two RMSNorms"},
    {[](ModelSpec&, LayerSpec& l) { l.norm_bias = true; }, "two RMSNorms"},
    {[](ModelSpec&, LayerSpec& l) { l.attention.value_dim = 8; }, "wider or narrower"},
    {[](ModelSpec& m, LayerSpec&) { m.learned_positions = 1024; }, "learned positions"},
    {[](ModelSpec& m, LayerSpec&) { m.not_trained = "yarn scaling of positions"; },
     "yarn scaling of positions"},
    {[](ModelSpec&, LayerSpec& l) { l.attention.head_dim = l.attention.value_dim = 7; },
     "odd width"},
};

std::vector<TensorPlace> places_in_order(const LayerLayout& l) {
    std::vector<TensorPlace> places = {
        l.input_norm, l.feed_forward_norm, l.qkv, l.qkv_bias, l.query_norm, l.key_norm, l.output,
        l.router,     l.gate_up,           l.down};
    std::erase_if(places, [](const TensorPlace& place) { return place.rows == 0; });
    return places;
}

/// All parameters of the layer once, one tensor after another, each at a multiple of 8.
void check_layout(const ModelSpec& model, const LayerSpec& layer) {
    CAPTURE(model.name);
    const LayerLayout layout = layer_layout(model, layer);
    std::int64_t elements = 0, end = 0;
    for (const TensorPlace& place : places_in_order(layout)) {
        CHECK(place.offset % 8 == 0);
        CHECK(place.offset >= end);
        CHECK(place.offset < end + 8);
        end = place.offset + place.elements();
        elements += place.elements();
    }
    CHECK(layout.size >= end);
    CHECK(layout.size < end + 8);
    CHECK(elements == layer_parameters(model, layer));
}

}  // namespace

TEST_CASE("layer layout: what the trainer has no layer for is refused in one sentence",
          "[layers]") {
    for (const RefusedLayer& refusal : kRefusals) {
        ModelSpec model = trainable_model();
        LayerSpec layer = model.kinds.front();
        REQUIRE_NOTHROW(layer_layout(model, layer));
        refusal.change(model, layer);
        CAPTURE(refusal.what);
        try {
            layer_layout(model, layer);
            FAIL_CHECK("was not refused");
        } catch (const InputError& error) {
            const std::string text = error.what();
            CHECK_THAT(text, ContainsSubstring(refusal.what));
            CHECK_THAT(text, ContainsSubstring("--model mine"));
            CHECK_THAT(text, ContainsSubstring("model_type " + model.family));
            CHECK_THAT(text, ContainsSubstring("llama, mistral, qwen3_moe and mixtral"));
            CHECK(std::count(text.begin(), text.end(), '\n') == 0);
        }
    }
}

TEST_CASE("layer layout: of the library, the families that it names are trained and no other",
          "[layers]") {
    const std::vector<std::string> families = {"qwen2",   "qwen3",     "llama",
                                               "mistral", "qwen3_moe", "mixtral"};
    for (const std::string& name : library_models()) {
        const ModelSpec model = read_model(name);
        CAPTURE(name, model.family);
        const bool trained =
            std::find(families.begin(), families.end(), model.family) != families.end();
        for (const LayerSpec& kind : model.kinds) {
            if (trained) {
                check_layout(model, kind);
            } else {
                CHECK_THROWS_AS(layer_layout(model, kind), InputError);
            }
        }
    }
}

TEST_CASE("layer layout: tensors of odd sizes start at multiples of 8 elements", "[layers]") {
    ModelSpec model = trainable_model();
    model.hidden = 41;
    LayerSpec layer = model.kinds.front();
    check_layout(model, layer);
    layer.attention.qkv_bias = true;
    layer.attention.qk_norm = true;
    check_layout(model, layer);
}

TEST_CASE("layer layout: a tied head has the norm alone", "[layers]") {
    ModelSpec model = trainable_model();
    const HeadLayout untied = head_layout(model);
    CHECK(untied.projection.elements() == model.vocabulary * model.hidden);
    CHECK(untied.norm.offset == model.vocabulary * model.hidden);
    CHECK(untied.size == head_parameters(model));
    model.tied_embeddings = true;
    const HeadLayout tied = head_layout(model);
    CHECK(tied.projection.rows == 0);
    CHECK(tied.norm.offset == 0);
    CHECK(tied.size == model.hidden);
}

TEST_CASE("layer layout: a block of any form has the bytes of the plan", "[layers]") {
    for (const char* name : {"qwen2.5-0.5b", "qwen2.5-7b", "qwen3-8b", "llama-3.1-70b"}) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        const LayerSpec& layer = model.kinds.front();
        for (const WeightForm& form : weight_forms()) {
            CAPTURE(form.name);
            const LayerLayout layout = layer_layout(model, layer, form.form);
            CHECK(static_cast<double>(layout.size) == form.layer_bytes(model, layer));
            std::int64_t end = 0;
            for (const auto matrix : kCodedMatrices) {
                CHECK((layout.*matrix).offset >= end);
                end = (layout.*matrix).offset + 1;
            }
        }
    }
}

TEST_CASE("layer layout: NF4 takes 4.13 bits a weight of a matrix", "[layers]") {
    const ModelSpec model = read_model("llama-3.1-70b");
    const double bits = 8 * weight_form(Form::nf4).layer_bytes(model, model.kinds.front()) /
                        static_cast<double>(layer_parameters(model, model.kinds.front()));
    // 4, a byte for 64 weights, 4 bytes for 64 x 256; norms are 16,384 of 855 million.
    CHECK(bits == Approx(4 + 8.0 / 64 + 32.0 / (64 * 256)).epsilon(1e-4));
}

TEST_CASE("layer layout: a block of codes has the bytes of the plan, aligned for products",
          "[layers]") {
    for (const char* name : {"qwen2.5-7b", "qwen3-8b", "llama-3.1-70b"}) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        const LayerSpec& layer = model.kinds.front();
        const LayerLayout plain = layer_layout(model, layer),
                          coded = layer_layout(model, layer, Form::e4m3);
        CHECK(static_cast<double>(coded.size) == weight_form(Form::e4m3).layer_bytes(model, layer));
        std::int64_t end = 4 * 16, elements = 0;
        const auto check = [&](TensorPlace LayerLayout::*of, DType type, std::int64_t alignment) {
            const TensorPlace& place = coded.*of;
            if (place.rows == 0) return;
            CHECK(place.elements() == (plain.*of).elements());
            const std::int64_t begin = place.offset * bytes_of(type);
            CHECK(begin >= end);
            CHECK(begin < end + alignment);
            CHECK(begin % alignment == 0);
            end = begin + place.elements() * bytes_of(type), elements += place.elements();
        };
        for (const auto vector : kVectors) check(vector, DType::bf16, 16);
        for (const auto matrix : kCodedMatrices) check(matrix, DType::e4m3, 256);
        CHECK(coded.size % 256 == 0);
        CHECK(coded.size >= end);
        CHECK(elements == layer_parameters(model, layer));
    }
}
