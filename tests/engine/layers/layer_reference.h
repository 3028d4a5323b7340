// Which results must a layer have? Its formulas in float64, with gradients by autograd.
#pragma once

#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/layers/transformer_layer.h"
#include "sim/specs/model/read_model.h"
#include "tests/engine/layers/float64_comparison.h"

namespace sluice {

/// A flat range of parameters or gradients; NaN wherever nothing was written.
class FlatRange {
  public:
    FlatRange(DType type, std::int64_t size) : type_(type), storage_(unwritten(type, {size})) {}
    at::Tensor tensor(const TensorPlace& place) const {
        return storage_.narrow(0, place.offset, place.elements())
            .view({place.rows, place.columns})
            .squeeze(-1);
    }
    void* data() const { return storage_.data_ptr(); }
    DType type() const { return type_; }
    std::int64_t written() const {
        return storage_.numel() - storage_.isnan().sum().item<std::int64_t>();
    }

  private:
    DType type_;
    at::Tensor storage_;
};

using NamedPlaces = std::vector<std::pair<std::string, TensorPlace>>;

/// The tensors that the layer has.
inline NamedPlaces places_of(const LayerLayout& l) {
    NamedPlaces all = {{"input_norm", l.input_norm},
                       {"feed_forward_norm", l.feed_forward_norm},
                       {"qkv", l.qkv},
                       {"qkv_bias", l.qkv_bias},
                       {"query_norm", l.query_norm},
                       {"key_norm", l.key_norm},
                       {"output", l.output},
                       {"router", l.router},
                       {"gate_up", l.gate_up},
                       {"down", l.down}};
    std::erase_if(all, [](const auto& named) { return named.second.rows == 0; });
    return all;
}

/// Random parameters of a layer: norms near 1, products that keep the size of what they multiply.
inline FlatRange random_parameters(const LayerLayout& layout) {
    FlatRange flat(DType::bf16, layout.size);
    for (const auto& [name, place] : places_of(layout)) {
        at::Tensor values = at::randn(flat.tensor(place).sizes(), at::kDouble);
        if (name.ends_with("norm")) {
            values = 1 + 0.2 * values;
        } else if (place.columns > 1) {
            values = values / std::sqrt(place.columns);
        }
        flat.tensor(place).copy_(values);
    }
    return flat;
}

/// Leaves of autograd by the names of places_of().
using Leaves = std::map<std::string, at::Tensor>;
inline Leaves leaves_of(const FlatRange& flat, const NamedPlaces& places) {
    Leaves leaves;
    for (const auto& [name, place] : places) leaves[name] = leaf_of(flat.tensor(place));
    return leaves;
}

inline at::Tensor reference_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
    return x * (x.square().mean(-1, true) + epsilon).rsqrt() * weight;
}

/// Heads (sequences, heads, positions, head_dim), each pair (i, i + head_dim / 2) turned by its
/// angle. Frequencies as Llama 3.1 scales them; they and the angles are rounded to fp32, as the
/// models' own code has them.
inline at::Tensor rotated(const at::Tensor& heads, const RotarySpec& r) {
    const std::int64_t half = heads.size(-1) / 2;
    const at::Tensor powers = at::arange(half, at::kDouble) / static_cast<double>(half);
    at::Tensor frequencies = at::pow(r.theta, -powers);
    const at::Tensor smooth =
        ((r.original_positions * frequencies / (2 * std::numbers::pi) - r.low_frequency_factor) /
         (r.high_frequency_factor - r.low_frequency_factor))
            .clamp(0, 1);
    frequencies = (1 - smooth) * frequencies / r.factor + smooth * frequencies;
    const at::Tensor angles =
        (at::arange(heads.size(2), at::kFloat).unsqueeze(1) * frequencies.to(at::kFloat))
            .to(at::kDouble);
    const at::Tensor a = heads.narrow(-1, 0, half), b = heads.narrow(-1, half, half);
    return at::cat({a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()}, -1);
}

inline at::Tensor reference_attention(const AttentionSpec& a, const at::Tensor& q,
                                      const at::Tensor& k, const at::Tensor& v) {
    at::Tensor seen = at::ones({q.size(2), q.size(2)}, at::kBool).tril();
    if (a.window > 0) seen = seen.triu(1 - a.window);
    const std::int64_t group = a.heads / a.kv_heads;
    const at::Tensor keys = k.repeat_interleave(group, 1), values = v.repeat_interleave(group, 1);
    const at::Tensor scores = q.matmul(keys.transpose(2, 3)) / std::sqrt(a.head_dim);
    return scores.masked_fill(seen.logical_not(), -INFINITY).softmax(-1).matmul(values);
}

/// By how much each expert counts for each token: (tokens, experts).
inline at::Tensor reference_route(const FeedForwardSpec& f, const at::Tensor& logits) {
    const at::Tensor chosen = std::get<1>(logits.topk(f.experts_per_token, 1));
    const at::Tensor others = at::ones_like(logits).scatter(1, chosen, 0).to(at::kBool);
    if (f.route_weights == RouteWeights::of_all) return logits.softmax(1).masked_fill(others, 0);
    return logits.masked_fill(others, -INFINITY).softmax(1);
}

/// The result of the feed-forward for its normed input.
inline at::Tensor reference_feed_forward(const FeedForwardSpec& f, Leaves& w, const at::Tensor& n) {
    const std::int64_t experts = std::max<std::int64_t>(f.experts, 1);
    const auto gate_up = w["gate_up"].chunk(experts), down = w["down"].chunk(experts);
    const at::Tensor counts = f.experts > 0
                                  ? reference_route(f, n.matmul(w["router"].transpose(0, 1)))
                                  : at::ones({n.size(0), 1}, at::kDouble);
    at::Tensor sum = at::zeros_like(n);
    for (std::int64_t e = 0; e < experts; ++e) {
        const auto at = static_cast<std::size_t>(e);
        const auto halves = n.matmul(gate_up[at].transpose(0, 1)).chunk(2, 1);
        const at::Tensor out = (at::silu(halves[0]) * halves[1]).matmul(down[at].transpose(0, 1));
        sum = sum + counts.narrow(1, e, 1) * out;
    }
    return sum;
}

/// y (tokens, hidden) of x (tokens, hidden).
inline at::Tensor reference_layer(const ModelSpec& model, TokenBlock block, Leaves& w,
                                  const at::Tensor& x) {
    const AttentionSpec& a = model.kinds.front().attention;
    at::Tensor qkv =
        reference_norm(x, w["input_norm"], model.norm_epsilon).matmul(w["qkv"].transpose(0, 1));
    if (a.qkv_bias) qkv = qkv + w["qkv_bias"];
    const auto parts = qkv.view({block.sequences, block.sequence, -1, a.head_dim})
                           .transpose(1, 2)
                           .split_with_sizes({a.heads, a.kv_heads, a.kv_heads}, 1);
    at::Tensor q = parts[0], k = parts[1];
    if (a.qk_norm) {
        q = reference_norm(q, w["query_norm"], model.norm_epsilon);
        k = reference_norm(k, w["key_norm"], model.norm_epsilon);
    }
    const at::Tensor out =
        reference_attention(a, rotated(q, model.rotary), rotated(k, model.rotary), parts[2])
            .transpose(1, 2)
            .reshape({block.tokens(), a.query_width()});
    const at::Tensor r = x + out.matmul(w["output"].transpose(0, 1));
    return r +
           reference_feed_forward(model.kinds.front().feed_forward, w,
                                  reference_norm(r, w["feed_forward_norm"], model.norm_epsilon));
}

/// A model of one kind of layer and the sequences of a micro-batch.
struct LayerCase {
    std::string name;
    ModelSpec model;
    std::int64_t sequences, sequence;
};

/// Inputs of a layer's run in addition to its case.
struct LayerSettings {
    DType type;
    Recompute recompute;
    std::int64_t micro_batches;
    std::int64_t chunk;  ///< tokens of the feed-forward at once; 0: all
};

inline TrainingSpec training_of(const LayerCase& c, const LayerSettings& s) {
    TrainingSpec t;
    t.batch = s.micro_batches * c.sequences;
    t.micro_batch = c.sequences;
    t.sequence = c.sequence;
    t.recompute = s.recompute;
    t.feed_forward_chunk_tokens = s.chunk;
    return t;
}

inline LayerCase layer_case(const char* name, const char* shape, std::int64_t sequences,
                            std::int64_t sequence) {
    LayerCase c{name, parse_generic_model(std::string("layers=1,vocabulary=50,") + shape),
                sequences, sequence};
    c.model.name = name;
    c.model.family = "llama";
    return c;
}

inline bool has_experts(const LayerCase& c) {
    return c.model.kinds.front().feed_forward.experts > 0;
}
/// Tokens go to some of the experts, which in bf16 may be others where logits are nearly equal.
inline bool chooses_experts(const LayerCase& c) {
    const FeedForwardSpec& f = c.model.kinds.front().feed_forward;
    return f.experts_per_token < f.experts;
}

inline std::vector<LayerCase> layer_cases() {
    std::vector<LayerCase> all;
    all.push_back(
        layer_case("qwen2", "hidden=64,heads=4,kv_heads=2,head_dim=16,intermediate=96", 2, 17));
    all.back().model.kinds.front().attention.qkv_bias = true;
    all.push_back(
        layer_case("qwen3", "hidden=48,heads=4,kv_heads=2,head_dim=24,intermediate=80", 2, 13));
    all.back().model.kinds.front().attention.qk_norm = true;
    all.push_back(
        layer_case("llama3", "hidden=64,heads=4,kv_heads=1,head_dim=16,intermediate=80", 1, 40));
    // Wavelengths from 6 to 20000 positions: kept, blended and stretched frequencies.
    all.back().model.rotary = {10000, 8, 1, 4, 64};
    all.push_back(
        layer_case("mistral", "hidden=64,heads=4,kv_heads=2,head_dim=16,intermediate=80", 2, 19));
    all.back().model.kinds.front().attention.window = 5;
    all.push_back(layer_case("seven to one",
                             "hidden=56,heads=7,kv_heads=1,head_dim=8,intermediate=64", 3, 9));
    all.push_back(
        layer_case("odd", "hidden=40,heads=2,kv_heads=2,head_dim=20,intermediate=72", 1, 11));
    all.push_back(
        layer_case("one token", "hidden=64,heads=4,kv_heads=2,head_dim=16,intermediate=96", 1, 1));
    const auto with_experts = [&](const char* name, std::int64_t experts, std::int64_t of_token,
                                  RouteWeights weights) {
        all.push_back(
            layer_case(name, "hidden=64,heads=4,kv_heads=2,head_dim=16,intermediate=24", 2, 17));
        FeedForwardSpec& f = all.back().model.kinds.front().feed_forward;
        f.experts = experts, f.experts_per_token = of_token, f.route_weights = weights;
    };
    with_experts("2 of 7 experts", 7, 2, RouteWeights::of_chosen);
    with_experts("3 of 40 experts", 40, 3, RouteWeights::of_all);
    with_experts("all of 3 experts", 3, 3, RouteWeights::of_chosen);
    return all;
}

}  // namespace sluice
