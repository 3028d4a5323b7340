#include "sim/specs/model/activation_bytes.h"

#include "sim/base/units.h"

namespace sluice {
namespace {

/// The feed-forward's products, in bytes of one token.
struct FeedForwardBytes {
    double width, gate_up, permuted;
};

FeedForwardBytes feed_forward_bytes(const FeedForwardSpec& f, double hidden) {
    const bool sparse = f.experts > 0;
    const std::int64_t width =
        sparse ? f.intermediate * f.experts_per_token + f.shared_intermediate : f.intermediate;
    // Every token is copied to each of its experts.
    const double copies = sparse ? static_cast<double>(f.experts_per_token) : 0;
    return {static_cast<double>(width * kBf16),
            static_cast<double>(width * f.projections() * kBf16), copies * hidden};
}

double qkv_bytes(const AttentionSpec& a) {
    const std::int64_t latent =
        a.query_width() * 2 + a.output_width() + a.query_rank + a.kv_rank + a.rope_dim;
    return static_cast<double>((a.latent ? latent : a.qkv_width()) * kBf16);
}

}  // namespace

ActivationBytes activation_bytes_per_token(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const double hidden = static_cast<double>(model.hidden * kBf16);
    const double qkv = qkv_bytes(a);
    const FeedForwardBytes f = feed_forward_bytes(layer.feed_forward, hidden);
    // A norm's backward reads the norm's input. The norms before the halves read the layer's input
    // and the residual, which are there anyway. Gemma's two after the halves read the output of the
    // attention projection and of the down projection, and norms of q and k read both unnormed:
    // forward overwrites these by what is normed, backward needs them in addition.
    const double half_output = layer.norms > 2 ? hidden : 0;
    const double unnormed =
        a.qk_norm ? static_cast<double>((a.query_width() + a.key_width()) * kBf16) : 0;

    ActivationBytes bytes;
    bytes.input = hidden;
    bytes.residual = hidden;
    bytes.attention_output = static_cast<double>(a.output_width() * kBf16 + a.heads * kFp32);
    // The norms and the product of gate and up are restored.
    bytes.attention_kept = qkv + unnormed + bytes.attention_output + half_output + bytes.residual;
    bytes.feed_forward_kept = f.gate_up + half_output;
    bytes.kept_for_backward = bytes.attention_kept + bytes.feed_forward_kept;
    bytes.forward_attention = 2 * hidden + qkv + bytes.attention_output;
    // Normed input, tokens copied to their experts and back, gate and up, their product. Backward
    // overwrites gate and up by their gradients, the product and the normed input by theirs.
    bytes.forward_feed_forward = hidden + 2 * f.permuted + f.gate_up + f.width;
    bytes.backward_feed_forward = bytes.forward_feed_forward + half_output;
    // Beside what could be kept: the normed input. Its gradient takes the place of the residual.
    bytes.backward_attention = bytes.attention_kept + hidden;
    // What cuDNN 9.19 asks for on an H200: the query gradient in fp32, a number a row, and with
    // grouped heads the gradients of keys and values for each query head.
    const std::int64_t expanded = a.kv_heads < a.heads ? 2 * a.query_width() * kBf16 : 0;
    bytes.attention_gradients =
        static_cast<double>(a.output_width() * kBf16 + a.query_width() * kFp32 + a.heads * kFp32 +
                            expanded) +
        qkv;
    return bytes;
}

}  // namespace sluice
