#include "calibrate/cases/layer_sizes.h"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// As in the models' configs; GPT-2's vocabulary as it is usually padded.
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

}  // namespace sluice
