// How are the kernels of one layer listed, for a block of tokens? layer_kernels.cpp says in which
// order.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/specs/model/adapters.h"
#include "sim/specs/model/elementwise_traffic.h"
#include "sim/specs/model/layer_products.h"
#include "sim/specs/model/module_experts.h"

namespace sluice {

/// Builds the kernels of one layer for one block of tokens.
class LayerKernels {
  public:
    LayerKernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                 KernelStyle style, const ProductPrecision& precision, bool sums_gradients = false,
                 const AdapterShape& adapters = {}, bool computed_again = false)
        : products_(precision, sums_gradients, adapters.present(),
                    adapters.present() && style == KernelStyle::fused, style == KernelStyle::fused),
          style_(style),
          adapters_(adapters),
          computed_again_(computed_again),
          experts_in_turn_(style == KernelStyle::modules && layer.feed_forward.experts > 0),
          hidden_(model.hidden),
          learned_positions_(model.learned_positions > 0),
          a_(layer.attention),
          f_(layer.feed_forward),
          layer_(layer),
          block_(block),
          tokens_(block.tokens()),
          attention_adds_residual_(style == KernelStyle::fused && !layer.norm_after_halves()),
          feed_forward_adds_residual_(attention_adds_residual_ && layer.feed_forward.experts == 0),
          traffic_(elementwise_traffic(style)) {}

    KernelList take() { return std::move(kernels_); }

    void norm(const char* name) {
        add(elementwise(name, MemoryBoundWork::rms_norm, tokens_, hidden_, traffic_.norm),
            traffic_.launches_norm);
    }
    void norm_backward(const char* name) {
        add(elementwise(name, MemoryBoundWork::rms_norm_backward, tokens_, hidden_,
                        traffic_.norm_backward),
            2 * traffic_.launches_norm);
    }
    void attention_residual() {
        if (!attention_adds_residual_) residual();
    }
    void feed_forward_residual() {
        if (!feed_forward_adds_residual_ && !fused_experts()) residual();
    }

    void projections() {
        each_projection([this](const char* name, std::int64_t n, std::int64_t k) {
            linear(gemm(name, GemmRole::forward, tokens_, n, k), kQkv, Known::largest);
        });
        if (a_.gate_width > 0) plain("gate", a_.gate_width, Known::largest);
    }
    void projections_backward() {
        if (a_.qkv_bias) {
            add(elementwise("bias gradient", MemoryBoundWork::bias_backward, tokens_,
                            a_.qkv_width(), traffic_.bias_backward));
        }
        each_projection([this](const char*, std::int64_t n, std::int64_t k) {
            linear_backward({tokens_, n, k}, kQkv, Known::nothing, Known::largest);
        });
        if (a_.gate_width > 0) plain_backward(a_.gate_width, Known::largest);
    }
    /// Gradients of adapters alone: nothing is trained below.
    void first_projections_backward() {
        each_projection([this](const char*, std::int64_t n, std::int64_t k) {
            AdaptedLinear linear{tokens_, n, k};
            linear.trained_below = k != hidden_;
            if (const auto adapted = adapted_part(linear, kQkv))
                append_adapter_backward(kernels_, *adapted, adapters_, style_);
            if (k != hidden_)
                products_.backward(kernels_, gemm("", GemmRole::forward, tokens_, n, k));
        });
    }
    /// Rotary embedding of q and k, and their norms if there are any: one pass each. Learned
    /// positions are added to the token rows instead.
    void rotary() {
        if (a_.qk_norm) on_heads("head norm", MemoryBoundWork::head_norm, traffic_.head_norm);
        if (rotates()) on_heads("rotary", MemoryBoundWork::rotary, traffic_.rotary);
    }
    void rotary_backward() {
        if (rotates()) on_heads("rotary", MemoryBoundWork::rotary, traffic_.rotary_backward);
        if (a_.qk_norm) {
            on_heads("head norm backward", MemoryBoundWork::head_norm_backward,
                     traffic_.head_norm_backward);
        }
    }
    AttentionSize attention() const {
        const std::int64_t seen =
            block_.document_tokens > 0 ? block_.document_tokens : block_.sequence;
        return {std::max<std::int64_t>(1, tokens_ / seen),
                seen,
                a_.heads,
                a_.kv_heads,
                a_.head_dim,
                a_.value_dim,
                a_.window};
    }
    void add(Kernel kernel) { kernels_.push_back(kernel); }
    void output_projection() {
        output_gate();
        const Kernel output =
            gemm("attention output", GemmRole::forward, tokens_, hidden_, a_.output_width());
        linear(attention_adds_residual_ ? with_addend(output) : output, kOutput, Known::nothing);
    }
    void output_projection_backward() {
        linear_backward({tokens_, hidden_, a_.output_width()}, kOutput, Known::nothing,
                        Known::nothing);
        // Gradients of both operands, and the product again for the projection's own gradient.
        output_gate(2);
    }

    void feed_forward(bool with_down) {
        route();
        if (f_.shared_gate) plain("shared gate", 1, Known::nothing);
        each_block([&](const char* up, const char* down, std::int64_t rows, std::int64_t width,
                       std::int64_t count) {
            linear(gemm(up, GemmRole::forward, rows, f_.projections() * width, hidden_, count),
                   kGateUp, Known::largest);
            if (!with_down) return;
            activation(MemoryBoundWork::swiglu, rows * count, width, traffic_.activation);
            const Kernel product = gemm(down, GemmRole::forward, rows, hidden_, width, count);
            linear(feed_forward_adds_residual_ ? with_addend(product) : product, kDown,
                   Known::largest);
        });
        if (with_down && fused_experts()) sum_of_experts(2);
    }
    /// Experts get their tokens again, each copy read once and written once.
    void restore_feed_forward() {
        if (fused_experts()) {
            route();
        } else if (f_.experts > 0) {
            add(memory_bound("permute tokens",
                             2.0 * kBf16 * product(tokens_ * f_.experts_per_token, hidden_)));
        }
    }
    void feed_forward_backward() {
        if (fused_experts()) copy_to_experts();
        each_block([&](const char*, const char*, std::int64_t rows, std::int64_t width,
                       std::int64_t count) {
            linear_backward({rows, hidden_, width, 1, count}, kDown, Known::nothing, Known::codes,
                            computed_again_);
            if (products_.fp8() && !adapters_.present())
                add(products_.swiglu_backward(rows, width));
            else
                activation(MemoryBoundWork::swiglu_and_gradient, rows * count, width,
                           traffic_.activation_backward);
            linear_backward({rows, f_.projections() * width, hidden_, 1, count}, kGateUp,
                            Known::codes, Known::largest);
        });
        if (f_.shared_gate) plain_backward(1, Known::nothing);
        if (experts_in_turn_) return append_experts_backward(kernels_, experts());
        if (f_.experts > 0)
            linear_backward({tokens_, f_.experts, hidden_}, kAllTargets, Known::nothing,
                            Known::nothing);
        if (!fused_experts()) return route_traffic();
        add(memory_bound("route backward", (2.0 * kFp32 + kBf16) * product(tokens_, f_.experts)));
        sum_of_experts(1);
    }
    const LayerSpec& layer() const { return layer_; }

  private:
    static double product(std::int64_t a, std::int64_t b) {
        return static_cast<double>(a) * static_cast<double>(b);
    }
    void add(Kernel kernel, std::int64_t launches) {
        kernel.launches = launches;
        add(kernel);
    }
    bool rotates() const { return a_.rotary && !learned_positions_; }
    /// Sigmoid of the gate times the attention's output.
    void output_gate(std::int64_t passes = 1) {
        if (a_.gate_width > 0)
            add(memory_bound("output gate",
                             3.0 * kBf16 * product(tokens_, a_.output_width() * passes), passes));
    }
    void residual() {
        add(memory_bound("residual", traffic_.residual * product(tokens_, hidden_)));
    }
    void on_heads(const char* name, MemoryBoundWork work, const TrafficAndWork& an_element) {
        const std::int64_t width =
            a_.latent ? a_.heads * a_.rope_dim : a_.query_width() + a_.key_width();
        add(elementwise(name, work, tokens_, width, an_element), traffic_.launches_rotary);
    }

    ModuleExperts experts() const {
        return {f_, hidden_, tokens_, adapters_, busy_experts(tokens_)};
    }
    /// That so many tokens reach.
    std::int64_t busy_experts(std::int64_t tokens) const {
        const std::int64_t most = block_.busy_experts > 0 ? block_.busy_experts : f_.experts;
        return std::min({f_.experts, most, tokens * f_.experts_per_token});
    }
    /// The linear layers among `targets` of one that joins them, if they have adapters.
    std::optional<AdaptedLinear> adapted_part(AdaptedLinear linear, AdapterTargets targets) const {
        if (!adapters_.has(targets)) return std::nullopt;
        const std::int64_t n = linear.n;
        if (targets == kQkv && !a_.latent) {
            linear.n = (adapters_.has(kQuery) ? a_.query_width() : 0) +
                       (adapters_.has(kKey) ? a_.key_width() : 0) +
                       (adapters_.has(kValue) ? a_.value_width() : 0);
            linear.parts = adapters_.count(kQkv);
        }
        if (targets == kGateUp && f_.gated) {
            linear.parts = adapters_.count(kGateUp);
            linear.n = n / 2 * linear.parts;
        }
        linear.whole = linear.n == n;
        return linear;
    }
    /// Modules whose input is one. Fused, the frozen product adds to that of adapters, if all have
    /// them; else these add to it.
    void linear(const Kernel& product, AdapterTargets targets, Known x) {
        const auto adapted = adapted_part(
            {product.m, product.n, product.k, 1, product.count, product.added}, targets);
        const bool first = style_ == KernelStyle::fused && adapted && adapted->whole;
        const auto adapters = [&] {
            if (adapted) append_adapter_forward(kernels_, *adapted, adapters_, style_);
        };
        if (first) adapters();
        products_.forward(kernels_, first && !product.added ? with_addend(product) : product, x);
        if (!first) adapters();
    }
    /// Without codes that a kernel writes for gradients of weights, where these are frozen.
    void linear_backward(const AdaptedLinear& linear, AdapterTargets targets, Known dy, Known x,
                         bool adapts_again = false) {
        const bool fused = style_ == KernelStyle::fused && adapters_.present();
        const auto adapted = adapted_part(linear, targets);
        if (fused && adapted)
            append_adapter_backward(kernels_, *adapted, adapters_, style_, adapts_again);
        if (fused && dy == Known::codes) dy = Known::largest;
        products_.backward(
            kernels_, gemm("", GemmRole::forward, linear.rows, linear.n, linear.k, linear.count),
            dy, x, adapted.has_value());
        if (!fused && adapted) append_adapter_backward(kernels_, *adapted, adapters_, style_);
    }

    /// A product with a normed input whose matrix never has adapters.
    void plain(const char* name, std::int64_t n, Known x) {
        products_.forward(kernels_, gemm(name, GemmRole::forward, tokens_, n, hidden_), x);
    }
    void plain_backward(std::int64_t n, Known x) {
        products_.backward(kernels_, gemm("", GemmRole::forward, tokens_, n, hidden_),
                           Known::nothing, x, false);
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

    /// Dense: one block over the tokens of a chunk. Experts: its tokens, spread evenly, and the
    /// shared block.
    template <typename Use>
    void each_block(Use use) {
        const std::int64_t chunk =
            block_.feed_forward_chunk == 0 ? tokens_ : block_.feed_forward_chunk;
        for (std::int64_t done = 0; done < tokens_; done += chunk) {
            each_block_of_chunk(std::min(chunk, tokens_ - done), use);
            products_.had_weights();
        }
    }
    template <typename Use>
    void each_block_of_chunk(std::int64_t tokens, Use use) {
        if (f_.experts == 0) {
            use("gate and up", "down", tokens, f_.intermediate, std::int64_t{1});
            return;
        }
        const std::int64_t routed = tokens * f_.experts_per_token;
        const std::int64_t busy = busy_experts(tokens);
        if (!experts_in_turn_)
            use("expert gate and up", "expert down", (routed + busy - 1) / busy, f_.intermediate,
                busy);
        if (f_.shared_intermediate > 0)
            use("shared gate and up", "shared down", tokens, f_.shared_intermediate,
                std::int64_t{1});
    }

    void activation(MemoryBoundWork work, std::int64_t rows, std::int64_t width,
                    double bytes_per_element) {
        constexpr double kUngated = 2.0 / 3;  // two matrices instead of three
        add(f_.gated
                ? elementwise("activation", work, rows, width, bytes_per_element)
                : memory_bound("activation", kUngated * bytes_per_element * product(rows, width)),
            traffic_.launches_activation);
    }
    void route() {
        if (f_.experts == 0) return;
        if (experts_in_turn_) return append_experts_forward(kernels_, experts());
        add(gemm("router", GemmRole::forward, tokens_, f_.experts, hidden_));
        if (!fused_experts()) return route_traffic();
        // Logits are cleared, added to and read in fp32; of a copy four numbers are written and
        // its expert is read twice.
        constexpr std::int64_t kLogits = 4, kCopies = 6, kLaunches = 5;
        add(memory_bound("route",
                         kFp32 * (kLogits * product(tokens_, f_.experts) +
                                  kCopies * product(tokens_, f_.experts_per_token)),
                         kLaunches));
        copy_to_experts();
    }
    /// The trainer's own kernels, not a module of PyTorch.
    bool fused_experts() const { return style_ == KernelStyle::fused && f_.experts > 0; }
    /// A token's row is read once and written to each of its copies.
    void copy_to_experts() {
        add(memory_bound("copies to experts",
                         kBf16 * product(tokens_ * (1 + f_.experts_per_token), hidden_)));
    }
    /// Its copies are read; the sum is written, and with a residual it is read.
    void sum_of_experts(std::int64_t others) {
        add(memory_bound("sum of experts",
                         kBf16 * product(tokens_ * (others + f_.experts_per_token), hidden_)));
    }
    /// Tokens are permuted to their experts and back: each copy is read once and written once,
    /// twice.
    void route_traffic() {
        if (f_.experts == 0) return;
        add(memory_bound("permute tokens",
                         4.0 * kBf16 * product(tokens_ * f_.experts_per_token, hidden_), 2));
    }

    ProductKernels products_;
    KernelStyle style_;
    AdapterShape adapters_;
    bool computed_again_;  ///< backward reads what recomputation left, which ends before `down`
    bool experts_in_turn_;
    std::int64_t hidden_;
    bool learned_positions_;
    const AttentionSpec& a_;
    const FeedForwardSpec& f_;
    const LayerSpec& layer_;
    TokenBlock block_;
    std::int64_t tokens_;
    /// Fused: the product before adds it, unless a norm or other experts are between.
    bool attention_adds_residual_, feed_forward_adds_residual_;
    const ElementwiseTraffic& traffic_;
    KernelList kernels_;
};

}  // namespace sluice
