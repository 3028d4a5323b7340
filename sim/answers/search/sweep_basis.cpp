#include "sim/answers/search/sweep_basis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace sluice {
namespace {

/// FNV-1a, 64 bits.
class Hash {
  public:
    void add(std::string_view text) {
        add_bytes(text);
        add_bytes(std::string_view("", 1));  // "ab", "c" is not "a", "bc"
    }
    void add(double number) { add_number(std::bit_cast<std::uint64_t>(number)); }
    void add(std::integral auto number) { add_number(static_cast<std::uint64_t>(number)); }
    void add(const std::optional<double>& number) {
        add(number.has_value());
        add(number.value_or(0));
    }
    void add_bytes(std::string_view bytes) {
        for (const char c : bytes) {
            value_ ^= static_cast<unsigned char>(c);
            value_ *= 0x100000001b3;
        }
    }
    std::string text() const { return fmt::format("{:016x}", value_); }

  private:
    void add_number(std::uint64_t number) {
        char bytes[sizeof number];
        for (char& byte : bytes) {
            byte = static_cast<char>(number & 0xff);
            number >>= 8;
        }
        add_bytes({bytes, sizeof bytes});
    }

    std::uint64_t value_ = 0xcbf29ce484222325;
};

// Each takes its struct apart, so that a member added later does not compile until it is here.

void add(Hash& hash, const LayerSpec& layer) {
    const auto& [attention, feed_forward, norms, norm_bias] = layer;
    {
        const auto& [heads, kv_heads, head_dim, value_dim, window, qkv_bias, output_bias, qk_norm,
                     sinks, latent, query_rank, kv_rank, rope_dim] = attention;
        for (const std::int64_t number :
             {heads, kv_heads, head_dim, value_dim, window, query_rank, kv_rank, rope_dim})
            hash.add(number);
        for (const bool flag : {qkv_bias, output_bias, qk_norm, sinks, latent}) hash.add(flag);
    }
    const auto& [intermediate, gated, bias, experts, experts_per_token, shared_intermediate,
                 router_bias] = feed_forward;
    for (const std::int64_t number :
         {intermediate, experts, experts_per_token, shared_intermediate, norms})
        hash.add(number);
    for (const bool flag : {gated, bias, router_bias, norm_bias}) hash.add(flag);
}

void add(Hash& hash, const ModelSpec& model) {
    const auto& [name, family, source, note, hidden, vocabulary, learned_positions,
                 longest_sequence, tied_embeddings, norm_epsilon, rotary, not_trained, norm_bias,
                 kinds, layers] = model;
    (void)source, (void)note, (void)not_trained;  // words
    hash.add(name);
    hash.add(family);
    for (const std::int64_t number : {hidden, vocabulary, learned_positions, longest_sequence})
        hash.add(number);
    for (const bool flag : {tied_embeddings, norm_bias}) hash.add(flag);
    const auto& [theta, factor, low_frequency_factor, high_frequency_factor, original_positions] =
        rotary;
    for (const double number : {norm_epsilon, theta, factor, low_frequency_factor,
                                high_frequency_factor, original_positions})
        hash.add(number);
    for (const LayerSpec& kind : kinds) add(hash, kind);
    for (const int layer : layers) hash.add(layer);
}

void add(Hash& hash, const KernelMeasurement& measured) {
    for (const KernelPoint& point : measured.points) {
        for (const double number : point.row) hash.add(number);
        for (const double number : {point.us, point.us_low, point.us_high, point.weight})
            hash.add(number);
    }
    for (const double number : measured.trend) hash.add(number);
    hash.add(measured.length_doublings);
    hash.add(measured.held_out.low_percent);
    hash.add(measured.held_out.high_percent);
}

void add(Hash& hash, const MachineProfile& profile) {
    hash.add(profile.id);
    for (const auto& [path, text] : profile.texts) {
        hash.add(path);
        hash.add(text);
    }
    for (const auto& [path, flag] : profile.flags) {
        hash.add(path);
        hash.add(flag);
    }
    for (const Quantity& quantity : profile.quantities) {
        hash.add(quantity.path);
        for (const auto& number : {quantity.value, quantity.low, quantity.high}) hash.add(number);
        hash.add(static_cast<int>(quantity.method));
    }
    for (const Curve& curve : profile.curves) {
        hash.add(curve.path);
        hash.add(static_cast<int>(curve.method));
        for (const std::vector<double>& row : curve.points)
            for (const double number : row) hash.add(number);
    }
    for (const KernelEntry& kernel : profile.kernels) {
        hash.add(kernel.path);
        hash.add(static_cast<int>(kernel.method));
        add(hash, kernel.measured);
    }
}

void add_options(Hash& hash, const ScenarioGrid& grid) {
    for (const Option& option : training_options()) hash.add(option.get(grid.base));
    for (const std::vector<OptionAxis>* axes : {&grid.questions, &grid.choices}) {
        for (const OptionAxis& axis : *axes) {
            hash.add(axis.option->field);
            for (const double value : axis.values) hash.add(value);
        }
        hash.add(axes->size());
    }
}

}  // namespace

SweepBasis sweep_basis(const ScenarioGrid& grid, const std::vector<MachineProfile>& profiles,
                       const std::string& program) {
    Hash models, machines, options;
    for (const ModelSpec& model : grid.models) add(models, model);
    for (const MachineProfile& profile : profiles) add(machines, profile);
    add_options(options, grid);
    return {{"the program", program},
            {"the models", models.text()},
            {"the machines or their --set values", machines.text()},
            {"the options", options.text()}};
}

std::string program_identity(const std::string& version) {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    Hash hash;
    std::string block(1 << 20, '\0');
    bool any = false;
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) ||
           file.gcount() > 0) {
        hash.add_bytes({block.data(), static_cast<std::size_t>(file.gcount())});
        any = true;
    }
    return any ? version + " " + hash.text() : version;
}

std::string changed_parts(const SweepBasis& then, const SweepBasis& now) {
    std::vector<std::string> changed;
    for (const auto& part : now)
        if (std::find(then.begin(), then.end(), part) == then.end()) changed.push_back(part.first);
    return fmt::format("{}", fmt::join(changed, " and "));
}

}  // namespace sluice
