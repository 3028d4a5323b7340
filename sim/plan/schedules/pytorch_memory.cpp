#include "sim/plan/schedules/pytorch_memory.h"

#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "sim/base/units.h"

namespace sluice {
namespace {

using Elements = std::vector<std::int64_t>;

void append(Elements& out, std::int64_t count, std::int64_t elements) {
    out.insert(out.end(), static_cast<std::size_t>(count), elements);
}

/// Width of the feed-forward that a token passes.
double width_of_token(const FeedForwardSpec& f) {
    return static_cast<double>(f.experts > 0
                                   ? f.intermediate * f.experts_per_token + f.shared_intermediate
                                   : f.intermediate);
}

/// ParameterTensor joins q, k and v, and gate and up.
void append_split(Elements& out, const ParameterTensor& tensor, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const std::string_view name = tensor.name;
    if (name == "attention.qkv" || name == "attention.qkv_bias") {
        out.push_back(a.query_width() * tensor.columns);
        append(out, 2, a.key_width() * tensor.columns);
    } else if (name.starts_with("feed_forward.gate_up")) {
        const std::int64_t parts = layer.feed_forward.projections();
        append(out, parts * tensor.count, tensor.rows / parts * tensor.columns);
    } else {
        append(out, tensor.count, tensor.rows * tensor.columns);
    }
}

}  // namespace

double pinned_bytes(double bytes) {
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(bytes))));
}

double mapped_anew(const std::vector<std::int64_t>& tensors, double bytes_of_element) {
    constexpr double kLargestThreshold = 32 * kMiB;
    double bytes = 0;
    for (const std::int64_t tensor : tensors) {
        const double own = bytes_of_element * static_cast<double>(tensor);
        if (own > kLargestThreshold) bytes += own;
    }
    return bytes;
}

OperationId copy_to_pageable(PlanBuilder& build, int layer, std::vector<Dependency> waits,
                             Operation all, double anew) {
    OperationId last = -1;
    all.pageable = true;
    Operation mapped = all;
    mapped.to_fresh_pages = true;
    mapped.link_bytes = anew;
    all.link_bytes -= anew;
    for (const Operation& copy : {all, mapped}) {
        if (copy.link_bytes <= 0) continue;
        last = build.add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                         std::exchange(waits, {}), copy);
        waits = {{last, false}};
    }
    return last;
}

Elements module_tensors(const ModelSpec& model, const LayerSpec& layer) {
    Elements out;
    for (const ParameterTensor& tensor : layer_tensors(model, layer))
        append_split(out, tensor, layer);
    return out;
}

Elements root_tensors(const ModelSpec& model) {
    Elements out = {model.vocabulary * model.hidden};
    if (model.learned_positions > 0) out.push_back(model.learned_positions * model.hidden);
    append(out, model.norm_bias ? 2 : 1, model.hidden);
    if (!model.tied_embeddings) out.push_back(model.vocabulary * model.hidden);
    return out;
}

std::int64_t parameter_tensors(const ModelSpec& model) {
    auto count = static_cast<std::int64_t>(root_tensors(model).size());
    for (const int kind : model.layers)
        count += static_cast<std::int64_t>(
            module_tensors(model, model.kinds[static_cast<std::size_t>(kind)]).size());
    return count;
}

SavedBytes saved_bytes_per_token(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    const double hidden = static_cast<double>(model.hidden * kBf16);
    const double width = static_cast<double>(kBf16) * width_of_token(f);
    const double qkv = static_cast<double>((a.query_width() + 2 * a.key_width()) * kBf16);
    const double copies =
        f.experts > 0 ? 2.0 * static_cast<double>(f.experts_per_token) * hidden : 0;
    const double unnormed =
        a.qk_norm ? static_cast<double>((a.query_width() + a.key_width()) * kBf16) : 0;
    SavedBytes bytes;
    // Both normed inputs and the state between the halves; q, k, v, the attention's output and a
    // number a head; gate, its activation, up and their product. Norms also save a number a row.
    bytes.saved = (layer.norms + 1) * hidden + layer.norms * static_cast<double>(kFp32) + qkv +
                  unnormed + static_cast<double>(a.output_width() * kBf16 + a.heads * kFp32) +
                  (f.gated ? 4 : 2) * width + copies;
    // Measured on the H200, 32768 tokens of Qwen2.5-7B: gate's activation, up and their product
    // beside the residual, the normed input and two more states.
    bytes.forward_temporary = 4 * hidden + (f.gated ? 3 : 2) * width + copies;
    // Measured there too: the gradients of activation, up and product, the product freed.
    bytes.backward_temporary = (f.gated ? 2 : 1) * width;
    return bytes;
}

}  // namespace sluice
