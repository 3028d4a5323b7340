// Which adapters (LoRA, arXiv 2106.09685) do the layers of a model have?
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sluice {

/// A set of a layer's linear layers, a bit each.
using AdapterTargets = unsigned;
inline constexpr AdapterTargets kQuery = 1, kKey = 2, kValue = 4, kOutput = 8, kGate = 16, kUp = 32,
                                kDown = 64;
inline constexpr AdapterTargets kQkv = kQuery | kKey | kValue, kGateUp = kGate | kUp,
                                kAllTargets = kQkv | kOutput | kGateUp | kDown;

struct AdapterTarget {
    AdapterTargets bit;
    const char* name;    ///< in options
    const char* module;  ///< Hugging Face's, in a layer
};
inline constexpr std::array<AdapterTarget, 7> kAdapterTargets = {{
    {kQuery, "q", "self_attn.q_proj"},
    {kKey, "k", "self_attn.k_proj"},
    {kValue, "v", "self_attn.v_proj"},
    {kOutput, "o", "self_attn.o_proj"},
    {kGate, "gate", "mlp.gate_proj"},
    {kUp, "up", "mlp.up_proj"},
    {kDown, "down", "mlp.down_proj"},
}};

/// Beside linear layers, which are frozen.
struct AdapterShape {
    AdapterShape() = default;
    AdapterShape(std::int64_t rank_, AdapterTargets targets_ = kAllTargets,
                 std::int64_t dropout_percent_ = 0)
        : rank(rank_), targets(targets_), dropout_percent(dropout_percent_) {}
    std::int64_t rank = 0;  ///< 0: there are none, and all weights are trained
    AdapterTargets targets = kAllTargets;
    std::int64_t dropout_percent = 0;  ///< of the numbers of their inputs, in training
    bool present() const { return rank > 0; }
    bool has(AdapterTargets of) const { return present() && (targets & of) != 0; }
    /// How many of these.
    int count(AdapterTargets of) const { return present() ? std::popcount(targets & of) : 0; }
    bool operator==(const AdapterShape&) const = default;
};

}  // namespace sluice
