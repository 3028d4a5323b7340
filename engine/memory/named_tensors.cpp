// Hugging Face's names of the tensors, one by one: fused matrices are rows of several of theirs.
#include <fmt/format.h>

#include "engine/memory/host_model.h"

namespace sluice {
namespace {

class Namer {
  public:
    void section(int index, std::string prefix) {
        section_ = index;
        prefix_ = std::move(prefix);
    }
    void matrix(const char* name, const TensorPlace& place) { rows(name, place, 0, place.rows); }
    /// Rows [begin, begin + count) of a fused tensor.
    void rows(const char* name, const TensorPlace& place, std::int64_t begin, std::int64_t count) {
        if (place.rows == 0) return;
        NamedTensor& t = add(name, place.offset + begin * place.columns);
        t.shape = {count};
        if (place.columns > 1) t.shape.push_back(place.columns);
        t.is_bias = place.columns == 1;
    }
    void norm(const char* name, const TensorPlace& place) {
        if (place.rows == 0) return;
        NamedTensor& t = add(name, place.offset);
        t.shape = {place.rows};
        t.is_norm = true;
    }
    std::vector<NamedTensor> take() { return std::move(tensors_); }

  private:
    NamedTensor& add(const char* name, std::int64_t offset) {
        NamedTensor tensor;
        tensor.name = prefix_ + name;
        tensor.section = section_;
        tensor.offset = offset;
        return tensors_.emplace_back(std::move(tensor));
    }

    int section_ = 0;
    std::string prefix_;
    std::vector<NamedTensor> tensors_;
};

void name_layer(const ModelSpec& model, int layer, Namer& namer) {
    const AttentionSpec& a = model.layer(layer).attention;
    const std::int64_t f = model.layer(layer).feed_forward.intermediate;
    const LayerLayout l = layer_layout(model, model.layer(layer));
    const std::int64_t q = a.query_width(), k = a.key_width();
    namer.section(layer, fmt::format("model.layers.{}.", layer));
    namer.norm("input_layernorm.weight", l.input_norm);
    namer.norm("post_attention_layernorm.weight", l.feed_forward_norm);
    namer.rows("self_attn.q_proj.weight", l.qkv, 0, q);
    namer.rows("self_attn.k_proj.weight", l.qkv, q, k);
    namer.rows("self_attn.v_proj.weight", l.qkv, q + k, k);
    namer.rows("self_attn.q_proj.bias", l.qkv_bias, 0, q);
    namer.rows("self_attn.k_proj.bias", l.qkv_bias, q, k);
    namer.rows("self_attn.v_proj.bias", l.qkv_bias, q + k, k);
    namer.norm("self_attn.q_norm.weight", l.query_norm);
    namer.norm("self_attn.k_norm.weight", l.key_norm);
    namer.matrix("self_attn.o_proj.weight", l.output);
    namer.rows("mlp.gate_proj.weight", l.gate_up, 0, f);
    namer.rows("mlp.up_proj.weight", l.gate_up, f, f);
    namer.matrix("mlp.down_proj.weight", l.down);
}

}  // namespace

std::vector<NamedTensor> named_tensors(const ModelSpec& model) {
    Namer namer;
    for (int layer = 0; layer < model.layer_count(); ++layer) name_layer(model, layer, namer);
    const HeadLayout head = head_layout(model);
    namer.section(model.layer_count(), "");
    namer.matrix("lm_head.weight", head.projection);
    namer.norm("model.norm.weight", head.norm);
    namer.section(model.layer_count() + 1, "");
    namer.matrix("model.embed_tokens.weight", {0, model.vocabulary, model.hidden});
    return namer.take();
}

std::int64_t NamedTensor::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t length : shape) product *= length;
    return product;
}

}  // namespace sluice
