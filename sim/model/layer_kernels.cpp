#include "sim/model/layer_kernels.h"

#include <algorithm>

namespace sluice {
namespace {

/// Bytes each element moves through HBM in the elementwise work of a layer.
struct ElementwiseTraffic {
    double norm, norm_backward;              ///< per element of the norm's input
    double rotary, rotary_backward;          ///< per element of q and k
    double activation, activation_backward;  ///< per element of the feed-forward's width, gated
    double residual;                         ///< per element of hidden, each of two additions
    std::int64_t launches_norm, launches_rotary, launches_activation;
};

// Bytes that the time measured on the H200 amounts to at the rate of a device copy
// (hwprofiles/measurements, 32768 tokens of Qwen2.5-7B), so that kernels which fall short of that
// rate take their time. Fused: F.rms_norm 0.134 ms, its backward 0.356 ms; rotary in place and
// gated activation at 4 B, 6 B and 10 B. Eager: RMSNorm 1.458 and 3.18 ms, rotary 1.60 and 1.88 ms,
// SiLU and product 1.466 and 2.559 ms.
constexpr ElementwiseTraffic kFused{4.9, 12.9, 4, 4, 6, 10, 6, 1, 1, 1};
constexpr ElementwiseTraffic kEager{52.9, 115.4, 58, 68, 10.1, 17.6, 6, 7, 5, 2};

const ElementwiseTraffic& traffic(KernelStyle style) {
    return style == KernelStyle::fused ? kFused : kEager;
}

double product(std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
}

/// Pairs of query and key that causal attention scores in one sequence; half the square without a
/// window.
double scored_pairs(std::int64_t sequence, std::int64_t window) {
    const double s = static_cast<double>(sequence);
    if (window <= 0 || window >= sequence) return s * s / 2;
    const double w = static_cast<double>(window);
    return w * s - w * w / 2;
}

/// Builds the kernels of one layer for one block of tokens.
class LayerKernels {
  public:
    LayerKernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                 KernelStyle style)
        : hidden_(model.hidden),
          learned_positions_(model.learned_positions > 0),
          a_(layer.attention),
          f_(layer.feed_forward),
          layer_(layer),
          block_(block),
          tokens_(block.tokens()),
          traffic_(traffic(style)) {}

    KernelList take() { return std::move(kernels_); }

    void norm(const char* name) {
        add(memory_bound(name, traffic_.norm * product(tokens_, hidden_), traffic_.launches_norm));
    }
    void norm_backward(const char* name) {
        add(memory_bound(name, traffic_.norm_backward * product(tokens_, hidden_),
                         2 * traffic_.launches_norm));
    }
    void residual(const char* name) {
        add(memory_bound(name, traffic_.residual * product(tokens_, hidden_)));
    }

    void projections() {
        each_projection([this](const char* name, std::int64_t n, std::int64_t k) {
            add(gemm(name, tokens_, n, k));
        });
    }
    void projections_backward() {
        each_projection([this](const char*, std::int64_t n, std::int64_t k) {
            gemm_backward(tokens_, n, k, 1);
        });
    }
    /// Rotary embedding of q and k, and their norms where there are any: each one pass. Learned
    /// positions are added to the token rows instead.
    void rotary(bool backward) {
        const double per_element = backward ? traffic_.rotary_backward : traffic_.rotary;
        const std::int64_t width =
            a_.latent ? a_.heads * a_.rope_dim : a_.query_width() + a_.key_width();
        const double passes = (learned_positions_ ? 0 : 1) + (a_.qk_norm ? 1 : 0);
        if (passes == 0) return;
        add(memory_bound("rotary", passes * per_element * product(tokens_, width),
                         traffic_.launches_rotary));
    }
    void attention(KernelKind kind) {
        const double backward_factor = kind == KernelKind::attention_backward ? 2.5 : 1;
        Kernel kernel;
        kernel.kind = kind;
        kernel.name = kind == KernelKind::attention_forward ? "attention" : "attention backward";
        kernel.sequence = block_.sequence;
        kernel.heads = a_.heads * block_.sequences;
        kernel.head_dim = a_.head_dim;
        kernel.flops = backward_factor * 2 * scored_pairs(block_.sequence, a_.window) *
                       static_cast<double>((a_.head_dim + a_.value_dim) * kernel.heads);
        kernel.bytes =
            backward_factor * kBf16 * product(tokens_, a_.qkv_width() + a_.output_width());
        add(kernel);
    }
    void output_projection() { add(gemm("attention output", tokens_, hidden_, a_.output_width())); }
    void output_projection_backward() { gemm_backward(tokens_, hidden_, a_.output_width(), 1); }

    void feed_forward(bool with_down) {
        route();
        each_block([&](const char* up, const char* down, std::int64_t rows, std::int64_t width,
                       std::int64_t count) {
            add(gemm(up, rows, f_.projections() * width, hidden_, count));
            activation(rows * count, width, traffic_.activation);
            if (with_down) add(gemm(down, rows, hidden_, width, count));
        });
    }
    /// The product of gate and up, from both kept; experts also get their tokens again, each copy
    /// read once and written once.
    void restore_feed_forward() {
        if (f_.experts > 0) {
            add(memory_bound("permute tokens",
                             2.0 * kBf16 * product(tokens_ * f_.experts_per_token, hidden_)));
        }
        each_block(
            [&](const char*, const char*, std::int64_t rows, std::int64_t width,
                std::int64_t count) { activation(rows * count, width, traffic_.activation); });
    }
    void feed_forward_backward() {
        each_block([&](const char*, const char*, std::int64_t rows, std::int64_t width,
                       std::int64_t count) {
            gemm_backward(rows, hidden_, width, count);
            activation(rows * count, width, traffic_.activation_backward);
            gemm_backward(rows, f_.projections() * width, hidden_, count);
        });
        if (f_.experts > 0) gemm_backward(tokens_, f_.experts, hidden_, 1);
        route_traffic();
    }
    std::int64_t norms() const { return layer_.norms; }

  private:
    void add(Kernel kernel) { kernels_.push_back(kernel); }

    /// Input gradient (m, k) = dy (m, n) W (n, k), and weight gradient (n, k) = dy^T (n, m) x (m,
    /// k).
    void gemm_backward(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
        add(gemm("input gradient", m, k, n, count));
        add(gemm("weight gradient", n, k, m, count));
    }

    template <typename Use>
    void each_projection(Use use) {
        if (!a_.latent) {
            use("qkv", a_.qkv_width(), hidden_);
            return;
        }
        if (a_.query_rank > 0) {
            use("query down", a_.query_rank, hidden_);
            use("query up", a_.query_width(), a_.query_rank);
        } else {
            use("query", a_.query_width(), hidden_);
        }
        use("kv down", a_.kv_rank + a_.rope_dim, hidden_);
        use("kv up", a_.heads * (a_.head_dim - a_.rope_dim + a_.value_dim), a_.kv_rank);
    }

    /// Dense: one block over the tokens of a chunk. Experts: its tokens spread evenly over them,
    /// and the shared block.
    template <typename Use>
    void each_block(Use use) {
        const std::int64_t chunk =
            block_.feed_forward_chunk == 0 ? tokens_ : block_.feed_forward_chunk;
        for (std::int64_t done = 0; done < tokens_; done += chunk)
            each_block_of_chunk(std::min(chunk, tokens_ - done), use);
    }
    template <typename Use>
    void each_block_of_chunk(std::int64_t tokens, Use use) {
        if (f_.experts == 0) {
            use("gate and up", "down", tokens, f_.intermediate, std::int64_t{1});
            return;
        }
        const std::int64_t routed = tokens * f_.experts_per_token;
        const std::int64_t busy = std::min(f_.experts, routed);
        use("expert gate and up", "expert down", (routed + busy - 1) / busy, f_.intermediate, busy);
        if (f_.shared_intermediate > 0)
            use("shared gate and up", "shared down", tokens, f_.shared_intermediate,
                std::int64_t{1});
    }

    void activation(std::int64_t rows, std::int64_t width, double bytes_per_element) {
        const double gated_share = f_.gated ? 1 : 2.0 / 3;
        add(memory_bound("activation", gated_share * bytes_per_element * product(rows, width),
                         traffic_.launches_activation));
    }
    void route() {
        if (f_.experts == 0) return;
        add(gemm("router", tokens_, f_.experts, hidden_));
        route_traffic();
    }
    /// Tokens are permuted to their experts and back: each copy is read once and written once,
    /// twice.
    void route_traffic() {
        if (f_.experts == 0) return;
        add(memory_bound("permute tokens",
                         4.0 * kBf16 * product(tokens_ * f_.experts_per_token, hidden_), 2));
    }

    std::int64_t hidden_;
    bool learned_positions_;
    const AttentionSpec& a_;
    const FeedForwardSpec& f_;
    const LayerSpec& layer_;
    TokenBlock block_;
    std::int64_t tokens_;
    const ElementwiseTraffic& traffic_;
    KernelList kernels_;
};

/// The part of forward up to the attention residual, which recomputation shares.
void append_attention_forward(LayerKernels& k, bool with_attention) {
    k.norm("norm");
    k.projections();
    k.rotary(false);
    if (with_attention) k.attention(KernelKind::attention_forward);
    k.output_projection();
    if (k.norms() > 2) k.norm("norm after attention");
    k.residual("residual");
    k.norm("norm");
}

}  // namespace

KernelList forward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                           KernelStyle style) {
    LayerKernels k(model, layer, block, style);
    append_attention_forward(k, true);
    k.feed_forward(true);
    if (k.norms() > 2) k.norm("norm after feed-forward");
    k.residual("residual");
    return k.take();
}

KernelList recompute_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                             Recompute recompute) {
    LayerKernels k(model, layer, block, KernelStyle::fused);
    if (recompute == Recompute::none) {
        k.norm("norm");
        k.norm("norm");
        k.restore_feed_forward();
        return k.take();
    }
    append_attention_forward(k, recompute == Recompute::full);
    // A norm after the feed-forward needs its input in backward, and so the down projection again.
    k.feed_forward(k.norms() > 2);
    return k.take();
}

KernelList backward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                            KernelStyle style) {
    LayerKernels k(model, layer, block, style);
    if (k.norms() > 2) k.norm_backward("norm backward");
    k.feed_forward_backward();
    k.norm_backward("norm backward");
    if (k.norms() > 2) k.norm_backward("norm backward");
    k.output_projection_backward();
    k.attention(KernelKind::attention_backward);
    k.rotary(true);
    k.projections_backward();
    k.norm_backward("norm backward");
    return k.take();
}

KernelList loss_kernels(const ModelSpec& model, TokenBlock block, std::int64_t chunk_tokens,
                        KernelStyle style) {
    const double hidden_elements = product(block.tokens(), model.hidden);
    KernelList out;
    out.push_back(memory_bound("final norm", traffic(style).norm * hidden_elements,
                               traffic(style).launches_norm));
    for (std::int64_t done = 0; done < block.tokens(); done += chunk_tokens) {
        const std::int64_t rows = std::min(chunk_tokens, block.tokens() - done);
        const double logits = product(rows, model.vocabulary);
        out.push_back(gemm("logits", rows, model.vocabulary, model.hidden));
        // Fused: read for the statistics, read and overwrite with the gradient. Eager: 1.214
        // and 1.565 ms measured.
        const double bytes_per_logit = style == KernelStyle::fused ? 6 : 19;
        out.push_back(memory_bound("cross-entropy", bytes_per_logit * logits,
                                   style == KernelStyle::fused ? 1 : 4));
        out.push_back(gemm("input gradient", rows, model.hidden, model.vocabulary));
        out.push_back(gemm("weight gradient", model.vocabulary, model.hidden, rows));
    }
    out.push_back(memory_bound("final norm backward",
                               traffic(style).norm_backward * hidden_elements,
                               2 * traffic(style).launches_norm));
    return out;
}

}  // namespace sluice
