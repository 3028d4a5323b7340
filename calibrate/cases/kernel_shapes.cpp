#include "calibrate/cases/kernel_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace sluice {
namespace {

using Size = std::int64_t;

struct LayerSizes {
    Size hidden, heads, kv_heads, head_dim, intermediate, vocabulary;
    Size query_width() const { return heads * head_dim; }
    Size query_key_width() const { return (heads + kv_heads) * head_dim; }
    Size qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

// As in the models' configs; GPT-2's vocabulary as it is usually padded.
constexpr std::array kFitLayers = {
    LayerSizes{768, 12, 12, 64, 3072, 50304},      // GPT-2
    LayerSizes{896, 14, 2, 64, 4864, 151936},      // Qwen2.5-0.5B
    LayerSizes{1024, 16, 8, 128, 3072, 151936},    // Qwen3-0.6B
    LayerSizes{1536, 12, 2, 128, 8960, 151936},    // Qwen2.5-1.5B
    LayerSizes{2048, 32, 8, 64, 8192, 128256},     // Llama-3.2-1B
    LayerSizes{2560, 32, 8, 128, 9728, 151936},    // Qwen3-4B
    LayerSizes{3072, 24, 8, 128, 8192, 128256},    // Llama-3.2-3B
    LayerSizes{3584, 28, 4, 128, 18944, 152064},   // Qwen2.5-7B
    LayerSizes{4096, 32, 8, 128, 14336, 128256},   // Llama-3.1-8B
    LayerSizes{4096, 32, 32, 128, 11008, 32000},   // Llama-2-7B
    LayerSizes{5120, 40, 10, 128, 17920, 100352},  // Phi-4
    LayerSizes{5376, 32, 16, 128, 21504, 262208},  // Gemma-3-27B
    LayerSizes{5120, 64, 8, 128, 25600, 151936},   // Qwen3-32B
    LayerSizes{8192, 64, 8, 128, 28672, 128256},   // Llama-3.1-70B
    LayerSizes{12288, 96, 8, 128, 28672, 32768},   // Mistral-Large
};
constexpr std::array kHeldOutLayers = {
    LayerSizes{2048, 16, 2, 128, 11008, 151936},  // Qwen2.5-3B
    LayerSizes{5120, 40, 8, 128, 13824, 152064},  // Qwen2.5-14B
    LayerSizes{8192, 64, 8, 128, 29568, 152064},  // Qwen2.5-72B
};
/// Output and input width of layers thinner than those of the models: heads' keys and values,
/// low-rank and small ones, where times are farthest from the trend.
constexpr std::array<std::pair<Size, Size>, 8> kThin = {{{128, 1024},
                                                         {256, 2048},
                                                         {512, 4096},
                                                         {512, 8192},
                                                         {1024, 128},
                                                         {2048, 256},
                                                         {4096, 512},
                                                         {8192, 512}}};

const std::vector<Size> kGpuTokens = {256,  512,  768,   1024,  1536,  2048,  3072,  4096, 5000,
                                      6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768};
const std::vector<Size> kCpuTokens = {64, 96, 128, 192, 256, 384, 512, 768, 1000, 1536, 2048};

Size rounded(Size size, Size divisor, Size multiple) {
    return std::max(multiple, (size / divisor + multiple / 2) / multiple * multiple);
}

/// What a CPU trains: widths an eighth of a GPU's, vocabularies a 32nd, heads of a quarter.
LayerSizes small(LayerSizes layer) {
    const Size head_dim = layer.head_dim / 4;
    const Size kv_heads = (layer.kv_heads + 1) / 2;
    const Size heads = std::max<Size>(1, layer.heads / layer.kv_heads) * kv_heads;
    return {rounded(layer.hidden, 8, 32),
            heads,
            kv_heads,
            head_dim,
            rounded(layer.intermediate, 8, 16),
            rounded(layer.vocabulary, 32, 64)};
}

template <std::size_t N>
std::vector<LayerSizes> layers(const std::array<LayerSizes, N>& full, const ShapeLimits& limits) {
    std::vector<LayerSizes> out(full.begin(), full.end());
    if (!limits.is_gpu) std::transform(out.begin(), out.end(), out.begin(), small);
    return out;
}

/// y (tokens, out) = x (tokens, in) W^T.
struct Linear {
    Size out, in;
    bool added;  ///< the residual, in forward
    bool head;
};

std::vector<Linear> linears(const LayerSizes& layer) {
    return {{layer.qkv_width(), layer.hidden, false, false},
            {layer.hidden, layer.query_width(), true, false},
            {2 * layer.intermediate, layer.hidden, false, false},
            {layer.hidden, layer.intermediate, true, false},
            {layer.vocabulary, layer.hidden, false, true}};
}

KernelShape gemm_shape(GemmRole role, const Linear& linear, Size tokens, bool accumulated) {
    switch (role) {
        case GemmRole::forward:
            return {{tokens, linear.out, linear.in, linear.added}};
        case GemmRole::input_gradient:
            return {{tokens, linear.in, linear.out, 0}};
        case GemmRole::weight_gradient:
            return {{linear.out, linear.in, tokens, accumulated}};
    }
    return {};
}

double gemm_flops(const KernelShape& shape) {
    return 2.0 * static_cast<double>(shape.size[0]) * static_cast<double>(shape.size[1]) *
           static_cast<double>(shape.size[2]);
}

double attention_flops(const KernelShape& shape, bool backward) {
    const double sequence = static_cast<double>(shape.size[1]);
    const double heads = static_cast<double>(shape.size[0] * shape.size[2]);
    return (backward ? 5.0 : 2.0) * sequence * sequence * heads *
           static_cast<double>(shape.size[4]);
}

/// Every other, every third, ...: the same few each time.
KernelShapes every(const KernelShapes& shapes, std::size_t step) {
    KernelShapes out;
    for (std::size_t i = step / 2; i < shapes.size(); i += step) out.push_back(shapes[i]);
    return out;
}

/// `count` shapes to fit, spread over the candidates, then those held out.
KernelShapes with_held_out(KernelShapes fit, std::size_t count, KernelShapes held_out,
                           const ShapeLimits& limits) {
    if (limits.quick) {
        count = std::max<std::size_t>(5, count / 10);
        held_out = every(held_out, std::min<std::size_t>(10, (held_out.size() + 1) / 2));
    }
    std::set<std::vector<Size>> excluded;
    for (KernelShape& shape : held_out) {
        shape.held_out = true;
        excluded.insert(shape.size);
    }
    std::erase_if(fit, [&](const KernelShape& s) { return excluded.contains(s.size); });
    KernelShapes out = spread_evenly(fit, count);
    out.insert(out.end(), held_out.begin(), held_out.end());
    return out;
}

/// Products of one kind of layer: all tokens, and sums both new and added to.
void add_gemms(KernelShapes& out, GemmRole role, const Linear& linear,
               const std::vector<Size>& tokens, const ShapeLimits& limits) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        // The head's logits exist for some thousand tokens at once.
        if (linear.head && tokens[i] > 8192) continue;
        const KernelShape shape = gemm_shape(role, linear, tokens[i], i % 2 == 1);
        if (gemm_flops(shape) <= limits.most_flops) out.push_back(shape);
    }
}

KernelShapes held_out_gemms(GemmRole role, const ShapeLimits& limits) {
    KernelShapes out;
    for (const LayerSizes& layer : layers(kHeldOutLayers, limits)) {
        for (const Linear& linear : linears(layer)) {
            std::vector<Size> tokens{2048, 8192, 24576};
            if (layer.hidden == 5120 && !linear.head) tokens.push_back(32768);
            if (linear.head) tokens = {1024, 4096};
            if (!limits.is_gpu) tokens = {512};
            add_gemms(out, role, linear, tokens, limits);
        }
    }
    return out;
}

KernelShape attention_shape(const LayerSizes& layer, Size tokens, Size sequence) {
    return {{tokens / sequence, sequence, layer.heads, layer.kv_heads, layer.head_dim}};
}

/// Width of the rows that `work` passes over.
Size row_width(MemoryBoundWork work, const LayerSizes& layer) {
    switch (work) {
        case MemoryBoundWork::head_norm:
        case MemoryBoundWork::head_norm_backward:
        case MemoryBoundWork::rotary:
            return layer.query_key_width();
        case MemoryBoundWork::swiglu:
        case MemoryBoundWork::swiglu_backward:
            return layer.intermediate;
        case MemoryBoundWork::bias_backward:
            return layer.qkv_width();
        case MemoryBoundWork::cross_entropy:
            return layer.vocabulary;
        default:
            return layer.hidden;
    }
}

bool one_row(MemoryBoundWork work) {
    return work == MemoryBoundWork::sum_squares || work == MemoryBoundWork::round_to_bf16;
}

/// Gradients of a layer, and of the head: 1 x count.
KernelShapes gradient_sizes(const std::vector<LayerSizes>& all) {
    KernelShapes out;
    for (const LayerSizes& layer : all) {
        Size count = 0;
        for (const Linear& linear : linears(layer)) {
            if (linear.head) out.push_back({{1, linear.out * linear.in}});
            if (!linear.head) count += linear.out * linear.in;
        }
        out.push_back({{1, count}});
    }
    return out;
}

KernelShapes rows_and_columns(MemoryBoundWork work, const std::vector<LayerSizes>& all,
                              const std::vector<Size>& tokens, Size head_dim) {
    KernelShapes out;
    for (const LayerSizes& layer : all) {
        const bool heads = row_width(work, layer) == layer.query_key_width();
        if (heads && layer.head_dim != head_dim) continue;
        for (const Size rows : tokens) {
            if (work == MemoryBoundWork::cross_entropy && rows > 8192) continue;
            out.push_back({{rows, row_width(work, layer)}});
        }
    }
    return out;
}

}  // namespace

double flops_limit(double flops_per_s, Seconds seconds) {
    return std::pow(4.0, std::round(std::log2(flops_per_s * seconds) / 2));
}

KernelShapes gemm_shapes(GemmRole role, const ShapeLimits& limits) {
    const std::vector<LayerSizes> held_out_layers = layers(kHeldOutLayers, limits);
    std::set<std::pair<Size, Size>> held_out;
    for (const LayerSizes& layer : held_out_layers)
        for (const Linear& linear : linears(layer)) held_out.insert({linear.out, linear.in});
    std::vector<Linear> all;
    for (const LayerSizes& layer : layers(kFitLayers, limits))
        for (const Linear& linear : linears(layer)) all.push_back(linear);
    for (const auto& [out, in] : kThin) {
        const Size divisor = limits.is_gpu ? 1 : 8;
        all.push_back({out / divisor, in / divisor, false, false});
    }
    KernelShapes fit;
    for (const Linear& linear : all) {
        // Others of the same widths, at whatever tokens, would tell the fit too much.
        if (held_out.contains({linear.out, linear.in})) continue;
        add_gemms(fit, role, linear, limits.is_gpu ? kGpuTokens : kCpuTokens, limits);
    }
    return with_held_out(fit, limits.is_gpu ? 60 : 25, held_out_gemms(role, limits), limits);
}

KernelShapes attention_shapes(bool backward, const ShapeLimits& limits) {
    const Size scale = limits.is_gpu ? 1 : 16;
    const auto add = [&](KernelShapes& out, const LayerSizes& layer, Size tokens, Size sequence) {
        const KernelShape shape = attention_shape(layer, tokens / scale, sequence / scale);
        if (attention_flops(shape, backward) <= limits.most_flops) out.push_back(shape);
    };
    KernelShapes fit, held_out;
    for (const LayerSizes& layer : layers(kFitLayers, limits)) {
        for (Size tokens = 1024; tokens <= 32768; tokens *= 2)
            for (Size sequence = limits.is_gpu ? 512 : 1024; sequence <= tokens; sequence *= 2)
                add(fit, layer, tokens, sequence);
    }
    const std::array<std::pair<Size, Size>, 5> sizes = {
        {{8192, 2048}, {8192, 8192}, {24576, 1024}, {32768, 4096}, {32768, 32768}}};
    for (const LayerSizes& layer : layers(kHeldOutLayers, limits))
        for (const auto& [tokens, sequence] : sizes) add(held_out, layer, tokens, sequence);
    // No heads of the models held out, at whatever tokens.
    std::erase_if(fit, [&](const KernelShape& shape) {
        return std::any_of(held_out.begin(), held_out.end(), [&](const KernelShape& other) {
            return std::equal(shape.size.begin() + 2, shape.size.end(), other.size.begin() + 2);
        });
    });
    return with_held_out(fit, limits.is_gpu ? 30 : 12, held_out, limits);
}

KernelShapes memory_bound_shapes(MemoryBoundWork work, const ShapeLimits& limits) {
    const std::vector<LayerSizes> fit = layers(kFitLayers, limits);
    const std::vector<LayerSizes> held_out = {layers(kHeldOutLayers, limits)[1]};
    const std::size_t count = limits.is_gpu ? 12 : 6;
    if (one_row(work)) {
        KernelShapes unseen = gradient_sizes(held_out);
        return with_held_out(gradient_sizes(fit), count, unseen, limits);
    }
    std::vector<Size> tokens{2048, 8192, 24576};
    if (work == MemoryBoundWork::cross_entropy) tokens = {1024, 2048, 4096};
    if (!limits.is_gpu) tokens = {128, 512, 2048};
    const Size head_dim = head_dim_of(limits);
    return with_held_out(
        rows_and_columns(work, fit, limits.is_gpu ? kGpuTokens : kCpuTokens, head_dim), count,
        rows_and_columns(work, held_out, tokens, head_dim), limits);
}

std::int64_t head_dim_of(const ShapeLimits& limits) { return limits.is_gpu ? 128 : 32; }

KernelShapes spread_evenly(const KernelShapes& candidates, std::size_t count) {
    const std::size_t size = candidates.size();
    std::vector<std::vector<double>> at;
    for (const KernelShape& shape : candidates) {
        std::vector<double>& point = at.emplace_back();
        for (const Size part : shape.size)
            point.push_back(std::log2(part == 0 ? 0.5 : static_cast<double>(part)));
    }
    const auto square_distance = [&](std::size_t a, std::size_t b) {
        double sum = 0;
        for (std::size_t i = 0; i < at[a].size(); ++i)
            sum += (at[a][i] - at[b][i]) * (at[a][i] - at[b][i]);
        return sum;
    };
    constexpr double kFar = 1e6;  // of candidates before the first choice
    std::vector<double> nearest(size, kFar);
    KernelShapes out;
    while (out.size() < std::min(count, size)) {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t choice = 0; choice < size; ++choice) {
            double sum = 0;
            for (std::size_t i = 0; i < size && sum < least; ++i)
                sum += std::min(nearest[i], square_distance(choice, i));
            if (sum >= least) continue;
            least = sum;
            best = choice;
        }
        out.push_back(candidates[best]);
        for (std::size_t i = 0; i < size; ++i)
            nearest[i] = std::min(nearest[i], square_distance(best, i));
    }
    return out;
}

}  // namespace sluice
