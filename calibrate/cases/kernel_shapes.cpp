#include "calibrate/cases/kernel_shapes.h"

#include <array>
#include <cmath>
#include <set>

namespace sluice {

namespace {

// As in the models' configs; GPT-2's vocabulary is padded as usual.
constexpr std::array kFit = {
    LayerSizes{768, 12, 12, 64, 3072, 50304},       // GPT-2
    LayerSizes{896, 14, 2, 64, 4864, 151936},       // Qwen2.5-0.5B
    LayerSizes{1024, 16, 8, 128, 3072, 151936},     // Qwen3-0.6B
    LayerSizes{1536, 12, 2, 128, 8960, 151936},     // Qwen2.5-1.5B
    LayerSizes{2048, 32, 8, 64, 8192, 128256},      // Llama-3.2-1B
    LayerSizes{2560, 32, 8, 128, 9728, 151936},     // Qwen3-4B
    LayerSizes{3072, 24, 8, 128, 8192, 128256},     // Llama-3.2-3B
    LayerSizes{3584, 28, 4, 128, 18944, 152064},    // Qwen2.5-7B
    LayerSizes{4096, 32, 8, 128, 14336, 128256},    // Llama-3.1-8B
    LayerSizes{4096, 32, 32, 128, 11008, 32000},    // Llama-2-7B
    LayerSizes{5120, 40, 10, 128, 17920, 100352},   // Phi-4
    LayerSizes{5376, 32, 16, 128, 21504, 262208},   // Gemma-3-27B
    LayerSizes{5120, 64, 8, 128, 25600, 151936},    // Qwen3-32B
    LayerSizes{8192, 64, 8, 128, 28672, 128256},    // Llama-3.1-70B
    LayerSizes{12288, 96, 8, 128, 28672, 32768},    // Mistral-Large
    LayerSizes{16384, 128, 8, 128, 53248, 128256},  // Llama-3.1-405B
};
constexpr std::array kHeldOut = {
    LayerSizes{2048, 16, 2, 128, 11008, 151936},  // Qwen2.5-3B
    LayerSizes{5120, 40, 8, 128, 13824, 152064},  // Qwen2.5-14B
    LayerSizes{8192, 64, 8, 128, 29568, 152064},  // Qwen2.5-72B
};

std::int64_t rounded(std::int64_t size, std::int64_t divisor, std::int64_t multiple) {
    return std::max(multiple, (size / divisor + multiple / 2) / multiple * multiple);
}

template <std::size_t N>
std::vector<LayerSizes> layers(const std::array<LayerSizes, N>& full, bool is_gpu) {
    std::vector<LayerSizes> out(full.begin(), full.end());
    if (!is_gpu) std::transform(out.begin(), out.end(), out.begin(), small);
    return out;
}

}  // namespace

LayerSizes small(const LayerSizes& layer) {
    const std::int64_t kv_heads = (layer.kv_heads + 1) / 2;
    return {rounded(layer.hidden, 8, 16),
            layer.heads / layer.kv_heads * kv_heads,
            kv_heads,
            layer.head_dim / 4,
            rounded(layer.intermediate, 8, 16),
            rounded(layer.vocabulary, 32, 16)};
}

std::vector<LayerSizes> fit_layers(bool is_gpu) { return layers(kFit, is_gpu); }
std::vector<LayerSizes> held_out_layers(bool is_gpu) { return layers(kHeldOut, is_gpu); }

std::vector<Linear> linears(const LayerSizes& layer) {
    return {{layer.qkv_width(), layer.hidden, false, false},
            {layer.hidden, layer.query_width(), true, false},
            {2 * layer.intermediate, layer.hidden, false, false},
            {layer.hidden, layer.intermediate, true, false},
            {layer.vocabulary, layer.hidden, false, true}};
}

std::vector<Linear> thin_linears(bool is_gpu) {
    std::vector<Linear> out = {{128, 1024}, {256, 2048}, {512, 4096}, {512, 8192},
                               {1024, 128}, {2048, 256}, {4096, 512}, {8192, 512}};
    if (is_gpu) return out;
    for (Linear& linear : out) linear = {linear.out / 8, linear.in / 8};
    return out;
}

namespace {

using Size = std::int64_t;
using Sizes = std::vector<ShapeSize>;

const std::vector<Size>& fit_tokens(bool is_gpu) {
    static const std::vector<Size> gpu = {256,  512,  768,   1024,  1536,  2048,  3072,  4096, 5000,
                                          6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768};
    static const std::vector<Size> cpu = {64, 96, 128, 192, 256, 384, 512, 768, 1000, 1536, 2048};
    return is_gpu ? gpu : cpu;
}
/// The head's logits exist for some thousand tokens at once.
constexpr Size kMostLogitTokens = 8192;

ShapeSize gemm_size(GemmRole role, const Linear& linear, Size tokens, bool accumulated) {
    if (role == GemmRole::forward) return {tokens, linear.out, linear.in, linear.added};
    if (role == GemmRole::input_gradient) return {tokens, linear.in, linear.out, 0};
    return {linear.out, linear.in, tokens, accumulated};
}

double gemm_flops(const ShapeSize& size) {
    return 2.0 * static_cast<double>(size[0] * size[1]) * static_cast<double>(size[2]);
}

/// FLOPs of backward, which takes longer than forward.
double attention_flops(const ShapeSize& size) {
    const double sequence = static_cast<double>(size[1]);
    return 5 * sequence * sequence * static_cast<double>(size[0] * size[2] * size[4]);
}

/// One of `step`.
Sizes thinned(const Sizes& sizes, std::size_t step) {
    Sizes out;
    for (std::size_t i = step / 2; i < sizes.size(); i += step) out.push_back(sizes[i]);
    return out;
}

/// `count` shapes out of `candidates`, and the held-out ones.
KernelShapes fit_and_held_out(Sizes candidates, std::size_t count, Sizes held_out,
                              const ShapeLimits& limits) {
    if (limits.quick) {
        count = std::max<std::size_t>(4, count / 10);
        held_out = thinned(held_out, std::min<std::size_t>(10, (held_out.size() + 1) / 2));
    }
    KernelShapes out;
    for (ShapeSize& size : spread_evenly(std::move(candidates), count))
        out.push_back({std::move(size), false});
    for (ShapeSize& size : held_out) out.push_back({std::move(size), true});
    return in_mixed_order(std::move(out));
}

/// Products with one layer's weights; sums rotate and are added to.
void add_gemms(Sizes& out, GemmRole role, const Linear& linear, const std::vector<Size>& tokens,
               const ShapeLimits& limits) {
    for (const Size count : tokens) {
        if (linear.head && count > kMostLogitTokens) continue;
        const ShapeSize size = gemm_size(role, linear, count, out.size() % 2 == 1);
        if (gemm_flops(size) <= limits.most_flops) out.push_back(size);
    }
}

Sizes held_out_gemms(GemmRole role, const ShapeLimits& limits) {
    Sizes out;
    for (const LayerSizes& layer : held_out_layers(limits.is_gpu)) {
        for (const Linear& linear : linears(layer)) {
            std::vector<Size> tokens{2048, 8192, 24576};
            if (layer.hidden == 5120) tokens.push_back(32768);
            if (linear.head) tokens = {1024, 4096};
            if (!limits.is_gpu) tokens = {512};
            add_gemms(out, role, linear, tokens, limits);
        }
    }
    return out;
}

bool has_heads(MemoryBoundWork work) {
    return work == MemoryBoundWork::head_norm || work == MemoryBoundWork::head_norm_backward ||
           work == MemoryBoundWork::rotary;
}

/// The width of the rows that `work` processes.
Size row_width(MemoryBoundWork work, const LayerSizes& layer) {
    if (has_heads(work)) return layer.query_key_width();
    switch (work) {
        case MemoryBoundWork::swiglu:
        case MemoryBoundWork::swiglu_and_gradient:
            return layer.intermediate;
        case MemoryBoundWork::bias_backward:
            return layer.qkv_width();
        case MemoryBoundWork::cross_entropy:
            return layer.vocabulary;
        default:
            return layer.hidden;
    }
}

Sizes rows_and_columns(MemoryBoundWork work, const std::vector<LayerSizes>& layers,
                       const std::vector<Size>& tokens, Size head_dim) {
    Sizes out;
    for (const LayerSizes& layer : layers) {
        if (has_heads(work) && layer.head_dim != head_dim) continue;
        for (const Size rows : tokens) {
            if (work == MemoryBoundWork::cross_entropy && rows > kMostLogitTokens) continue;
            out.push_back({rows, row_width(work, layer)});
        }
    }
    return out;
}

/// Gradients of a layer's attention, of its feed-forward, and of the head: 1 x count, up to `most`.
Sizes gradient_sizes(const std::vector<LayerSizes>& layers, Size most) {
    Sizes out;
    for (const LayerSizes& layer : layers) {
        const std::vector<Linear> all = linears(layer);
        const auto count = [&](std::size_t i) { return all[i].out * all[i].in; };
        out.push_back({1, count(0) + count(1)});
        out.push_back({1, count(2) + count(3)});
        out.push_back({1, count(4)});
    }
    std::erase_if(out, [most](const ShapeSize& size) { return size[1] > most; });
    return out;
}

/// Removes sizes that agree from `first` on with one of `held_out`.
void remove_like(Sizes& sizes, const Sizes& held_out, std::ptrdiff_t first) {
    std::set<ShapeSize> tails;
    for (const ShapeSize& size : held_out) tails.emplace(size.begin() + first, size.end());
    std::erase_if(sizes, [&](const ShapeSize& size) {
        return tails.contains(ShapeSize(size.begin() + first, size.end()));
    });
}

}  // namespace

double flops_limit(double flops_per_s, Seconds seconds) {
    return std::pow(4.0, std::round(std::log2(flops_per_s * seconds) / 2));
}

KernelShapes gemm_shapes(GemmRole role, const ShapeLimits& limits) {
    std::set<std::pair<Size, Size>> held_out;
    for (const LayerSizes& layer : held_out_layers(limits.is_gpu))
        for (const Linear& linear : linears(layer)) held_out.insert({linear.out, linear.in});
    std::vector<Linear> all = thin_linears(limits.is_gpu);
    for (const LayerSizes& layer : fit_layers(limits.is_gpu))
        for (const Linear& linear : linears(layer)) all.push_back(linear);
    Sizes candidates;
    for (const Linear& linear : all) {
        // At other numbers of tokens these would also tell the fit too much.
        if (held_out.contains({linear.out, linear.in})) continue;
        add_gemms(candidates, role, linear, fit_tokens(limits.is_gpu), limits);
    }
    return fit_and_held_out(candidates, limits.is_gpu ? 105 : 25, held_out_gemms(role, limits),
                            limits);
}

KernelShapes attention_shapes(const ShapeLimits& limits) {
    const Size scale = limits.is_gpu ? 1 : 16;
    const auto add = [&](Sizes& out, const LayerSizes& layer, Size tokens, Size sequence) {
        const ShapeSize size = {tokens / sequence, sequence / scale, layer.heads, layer.kv_heads,
                                layer.head_dim};
        if (attention_flops(size) <= limits.most_flops) out.push_back(size);
    };
    Sizes candidates, held_out;
    for (const LayerSizes& layer : fit_layers(limits.is_gpu)) {
        for (Size tokens = 1024; tokens <= 32768; tokens *= 2)
            for (Size sequence = limits.is_gpu ? 512 : 1024; sequence <= tokens; sequence *= 2)
                add(candidates, layer, tokens, sequence);
    }
    constexpr std::array<std::pair<Size, Size>, 5> kHeldOutAttention = {
        {{8192, 2048}, {8192, 8192}, {24576, 1024}, {32768, 4096}, {32768, 32768}}};
    for (const LayerSizes& layer : held_out_layers(limits.is_gpu))
        for (const auto& [tokens, sequence] : kHeldOutAttention)
            add(held_out, layer, tokens, sequence);
    remove_like(candidates, held_out, 2);
    return fit_and_held_out(candidates, limits.is_gpu ? 30 : 12, held_out, limits);
}

KernelShapes memory_bound_shapes(MemoryBoundWork work, const ShapeLimits& limits) {
    const std::vector<LayerSizes> layers = fit_layers(limits.is_gpu);
    const std::vector<LayerSizes> unseen = {held_out_layers(limits.is_gpu)[1]};
    const std::size_t count = limits.is_gpu ? 18 : 6;
    if (work == MemoryBoundWork::sum_squares || work == MemoryBoundWork::round_to_bf16) {
        const Size most = limits.is_gpu ? 2'000'000'000 : 16'000'000;
        return fit_and_held_out(gradient_sizes(layers, most), count, gradient_sizes(unseen, most),
                                limits);
    }
    const Size head_dim = head_dim_of(limits);
    std::vector<Size> tokens{2048, 8192, 24576};
    if (work == MemoryBoundWork::cross_entropy) tokens = {1024, 2048, 4096};
    if (!limits.is_gpu) tokens = {128, 512, 1200};
    const Sizes held_out = rows_and_columns(work, unseen, tokens, head_dim);
    Sizes candidates = rows_and_columns(work, layers, fit_tokens(limits.is_gpu), head_dim);
    remove_like(candidates, held_out, 1);
    return fit_and_held_out(candidates, count, held_out, limits);
}

std::int64_t head_dim_of(const ShapeLimits& limits) { return limits.is_gpu ? 128 : 32; }

}  // namespace sluice
