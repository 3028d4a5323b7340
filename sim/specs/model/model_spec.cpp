#include "sim/specs/model/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "sim/base/input_error.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

using Tensors = std::vector<ParameterTensor>;

std::int64_t sum(const Tensors& tensors) {
    return std::accumulate(
        tensors.begin(), tensors.end(), std::int64_t{0},
        [](std::int64_t total, const ParameterTensor& t) { return total + t.elements(); });
}

void append_latent_attention(Tensors& out, const AttentionSpec& a, std::int64_t hidden) {
    if (a.query_rank > 0) {
        out.push_back({"attention.query_down", a.query_rank, hidden});
        out.push_back({"attention.query_norm", a.query_rank});
        out.push_back({"attention.query_up", a.query_width(), a.query_rank});
    } else {
        out.push_back({"attention.query", a.query_width(), hidden});
    }
    out.push_back({"attention.kv_down", a.kv_rank + a.rope_dim, hidden});
    out.push_back({"attention.kv_norm", a.kv_rank});
    out.push_back(
        {"attention.kv_up", a.heads * (a.head_dim - a.rope_dim + a.value_dim), a.kv_rank});
}

void append_qk_norm(Tensors& out, const AttentionSpec& a) {
    if (!a.qk_norm) return;
    if (a.qk_norm_of_all_heads) {
        out.push_back({"attention.query_norm", a.query_width()});
        out.push_back({"attention.key_norm", a.key_width()});
    } else {
        out.push_back({"attention.qk_norm", a.head_dim, 1, 2});
    }
}

void append_attention(Tensors& out, const AttentionSpec& a, std::int64_t hidden) {
    if (a.latent) {
        append_latent_attention(out, a, hidden);
    } else {
        const std::array joins = {a.query_width(), a.key_width(), a.value_width()};
        out.push_back({"attention.qkv", a.qkv_width(), hidden, 1, joins});
        if (a.qkv_bias) out.push_back({"attention.qkv_bias", a.qkv_width(), 1, 1, joins});
        append_qk_norm(out, a);
    }
    if (a.gate_width > 0) out.push_back({"attention.gate", a.gate_width, hidden});
    if (a.sinks) out.push_back({"attention.sinks", a.heads});
    out.push_back({"attention.output", hidden, a.output_width()});
    if (a.output_bias) out.push_back({"attention.output_bias", hidden});
}

/// `count` feed-forward blocks of one width.
void append_block(Tensors& out, const FeedForwardSpec& f, std::int64_t hidden, std::int64_t width,
                  std::int64_t count) {
    const std::int64_t rows = f.projections() * width;
    const std::array joins = {width, rows - width, std::int64_t{0}};
    out.push_back({"feed_forward.gate_up", rows, hidden, count, joins});
    if (f.bias) out.push_back({"feed_forward.gate_up_bias", rows, 1, count, joins});
    out.push_back({"feed_forward.down", hidden, width, count});
    if (f.bias) out.push_back({"feed_forward.down_bias", hidden, 1, count});
}

void append_feed_forward(Tensors& out, const FeedForwardSpec& f, std::int64_t hidden,
                         std::int64_t experts) {
    if (f.activation_parameters > 0)
        out.push_back({"feed_forward.activation", f.activation_parameters});
    if (f.experts == 0) {
        append_block(out, f, hidden, f.intermediate, 1);
        return;
    }
    out.push_back({"feed_forward.router", f.experts, hidden});
    if (f.router_bias) out.push_back({"feed_forward.router_bias", f.experts});
    append_block(out, f, hidden, f.intermediate, experts);
    if (f.shared_intermediate > 0) append_block(out, f, hidden, f.shared_intermediate, 1);
    if (f.shared_gate) out.push_back({"feed_forward.shared_gate", 1, hidden});
}

Tensors tensors_with_experts(const ModelSpec& model, const LayerSpec& layer, std::int64_t experts) {
    Tensors out;
    out.reserve(16);
    const std::int64_t norm_parts = layer.norm_bias ? 2 : 1;
    out.push_back({"norms", model.hidden, 1, layer.norms * norm_parts});
    append_attention(out, layer.attention, model.hidden);
    append_feed_forward(out, layer.feed_forward, model.hidden, experts);
    return out;
}

std::int64_t sum_over_layers(const ModelSpec& model,
                             std::int64_t (*of_layer)(const ModelSpec&, const LayerSpec&)) {
    std::vector<std::int64_t> of_kind;
    for (const LayerSpec& kind : model.kinds) of_kind.push_back(of_layer(model, kind));
    std::int64_t total = 0;
    for (const int kind : model.layers) total += of_kind[static_cast<std::size_t>(kind)];
    return total;
}

}  // namespace

std::vector<std::int64_t> ParameterTensor::rows_of_parts() const {
    std::vector<std::int64_t> out;
    std::ranges::copy_if(joins, std::back_inserter(out), [](auto part) { return part > 0; });
    return out.empty() ? std::vector{rows} : out;
}

std::vector<ParameterTensor> layer_tensors(const ModelSpec& model, const LayerSpec& layer) {
    return tensors_with_experts(model, layer, layer.feed_forward.experts);
}

std::int64_t layer_parameters(const ModelSpec& model, const LayerSpec& layer) {
    return sum(layer_tensors(model, layer));
}

std::int64_t active_layer_parameters(const ModelSpec& model, const LayerSpec& layer) {
    return sum(tensors_with_experts(model, layer, layer.feed_forward.experts_per_token));
}

std::int64_t largest_layer_parameters(const ModelSpec& model) {
    std::int64_t largest = 0;
    for (const LayerSpec& kind : model.kinds)
        largest = std::max(largest, layer_parameters(model, kind));
    return largest;
}

std::int64_t embedding_parameters(const ModelSpec& model) {
    return (model.vocabulary + model.learned_positions) * model.hidden;
}

std::int64_t head_parameters(const ModelSpec& model) {
    const std::int64_t projection = model.tied_embeddings ? 0 : model.vocabulary * model.hidden;
    const std::int64_t bias = model.head_bias ? model.vocabulary : 0;
    return projection + bias + model.hidden * (model.norm_bias ? 2 : 1);
}

std::int64_t total_parameters(const ModelSpec& model) {
    return embedding_parameters(model) + head_parameters(model) +
           sum_over_layers(model, &layer_parameters);
}

std::int64_t active_parameters(const ModelSpec& model) {
    return embedding_parameters(model) + head_parameters(model) +
           sum_over_layers(model, &active_layer_parameters);
}

bool has_experts(const ModelSpec& model) {
    return std::ranges::any_of(model.kinds,
                               [](const LayerSpec& kind) { return kind.feed_forward.experts > 0; });
}

void refuse_uncountable(const ModelSpec& model, const std::string& where) {
    constexpr double kMost = 1e15;
    std::vector<double> of_kind;
    for (const LayerSpec& kind : model.kinds) {
        double& elements = of_kind.emplace_back();
        for (const ParameterTensor& t : layer_tensors(model, kind)) {
            elements += static_cast<double>(t.rows) * static_cast<double>(t.columns) *
                        static_cast<double>(t.count);
        }
    }
    double total = 0;
    for (const int kind : model.layers) total += of_kind[static_cast<std::size_t>(kind)];
    if (total > kMost) {
        throw InputError(fmt::format(
            "{} has {:.1e} parameters, expected at most {:g}; check its widths and layers", where,
            total, kMost));
    }
}

void append_layers(ModelSpec& model, const LayerSpec& layer, std::int64_t count) {
    if (count <= 0) return;
    const auto found = std::find(model.kinds.begin(), model.kinds.end(), layer);
    const auto kind = found - model.kinds.begin();
    if (found == model.kinds.end()) model.kinds.push_back(layer);
    model.layers.insert(model.layers.end(), static_cast<std::size_t>(count),
                        static_cast<int>(kind));
}

void truncate_layers(ModelSpec& model, std::int64_t count) {
    if (count < 1 || count > model.layer_count()) {
        throw InputError(
            fmt::format("--layers is {}, expected 1 to {} (the layers of {}); give fewer", count,
                        model.layer_count(), model.name),
            "layers");
    }
    ModelSpec shorter = model;
    shorter.kinds.clear();
    shorter.layers.clear();
    for (int i = 0; i < count; ++i) append_layers(shorter, model.layer(i), 1);
    model = std::move(shorter);
}

namespace {

/// The feed-forward's products, in bytes per token.
struct FeedForwardBytes {
    double width, gate_up, permuted, routing;
};

/// The router's logits in fp32 with their gradient, and a token's choice: for each of its experts
/// five numbers of 4 bytes.
double routing_bytes(const FeedForwardSpec& f) {
    constexpr std::int64_t kLogit = kFp32 + kBf16, kChoice = 5 * 4;
    return static_cast<double>(f.experts * kLogit + f.experts_per_token * kChoice);
}

FeedForwardBytes feed_forward_bytes(const FeedForwardSpec& f, double hidden) {
    const bool sparse = f.experts > 0;
    const std::int64_t width =
        sparse ? f.intermediate * f.experts_per_token + f.shared_intermediate : f.intermediate;
    // Every token is copied to each of its experts.
    const double copies = sparse ? static_cast<double>(f.experts_per_token) : 0;
    return {static_cast<double>(width * kBf16),
            static_cast<double>(width * f.projections() * kBf16), copies * hidden,
            sparse ? routing_bytes(f) : 0};
}

/// Gate and up as bytes, and a bf16 for each group of a row.
double eight_bit_bytes(const FeedForwardSpec& f) {
    const auto of_width = [&](std::int64_t width) {
        return width + kBf16 * ((width + kEightBitGroup - 1) / kEightBitGroup);
    };
    const std::int64_t routed = f.experts > 0 ? f.experts_per_token : 1;
    const std::int64_t shared = f.experts > 0 ? of_width(f.shared_intermediate) : 0;
    return static_cast<double>(f.projections() * (routed * of_width(f.intermediate) + shared));
}

double qkv_bytes(const AttentionSpec& a) {
    const std::int64_t latent =
        a.query_width() * 2 + a.output_width() + a.query_rank + a.kv_rank + a.rope_dim;
    return static_cast<double>(((a.latent ? latent : a.qkv_width()) + a.gate_width) * kBf16);
}

}  // namespace

ActivationBytes activation_bytes_per_token(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const double hidden = static_cast<double>(model.hidden * kBf16);
    const double qkv = qkv_bytes(a);
    const FeedForwardBytes f = feed_forward_bytes(layer.feed_forward, hidden);
    // Norm inputs that backward needs. The norms before the halves read the layer's input and the
    // residual, which exist anyway. Gemma's two norms after the halves read the output of the
    // attention projection and of the down projection, and norms of q and k read both unnormed.
    // Forward overwrites these tensors by their normed values, so backward needs copies.
    const double half_output = layer.norm_after_halves() ? hidden : 0;
    const double unnormed =
        a.qk_norm ? static_cast<double>((a.query_width() + a.key_width()) * kBf16) : 0;

    ActivationBytes bytes;
    bytes.input = hidden;
    bytes.residual = hidden;
    bytes.qkv = qkv;
    bytes.attention_output = static_cast<double>(a.output_width() * kBf16 + a.heads * kFp32);
    // The norms and the product of gate and up are restored.
    bytes.attention_kept = qkv + unnormed + bytes.attention_output + half_output + bytes.residual;
    bytes.feed_forward_kept = f.gate_up + half_output;
    bytes.gate_up = f.gate_up;
    bytes.gate_up_8_bit = eight_bit_bytes(layer.feed_forward);
    bytes.forward_attention = 2 * hidden + qkv + bytes.attention_output;
    // Normed input, tokens copied to their experts, gate and up, their product. Their results
    // replace these copies. Backward overwrites the normed input, gate, up and the product by
    // their gradients, and needs copies of the output's gradient, too.
    bytes.forward_feed_forward = hidden + f.permuted + f.gate_up + f.width + f.routing;
    bytes.backward_feed_forward = bytes.forward_feed_forward + f.permuted + half_output;
    // In addition to the tensors that could be kept: the normed input. Its gradient replaces the
    // residual.
    bytes.backward_attention = bytes.attention_kept + hidden;
    const std::int64_t output = a.output_width() > model.hidden ? a.output_width() * kBf16 : 0;
    bytes.attention_gradients = static_cast<double>(output) + qkv;
    return bytes;
}

}  // namespace sluice
