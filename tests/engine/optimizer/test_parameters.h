// Parameters with state, gradients and a float64 AdamW for the optimizer's tests.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/optimizer/adamw.h"

namespace sluice::test {

inline float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline std::uint16_t to_bf16(float x) { return split_master(x).high; }

inline std::vector<float> normal_values(std::size_t count, float deviation, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
}

/// Owns what a ParameterBlock points to. Behind the elements are guards that nothing may touch.
struct Parameters {
    static constexpr std::size_t kGuards = 64;
    std::size_t count;
    int state_bytes;
    std::vector<std::uint16_t> high;
    std::vector<std::uint8_t> low, first, second;
    std::vector<float> first_scale, second_scale;

    Parameters(const std::vector<float>& masters, int bytes)
        : count(masters.size()), state_bytes(bytes) {
        high.assign(count + kGuards, 0x5555);
        low.assign((count + kGuards) * low_bytes(), 0x55);
        first.assign((count + kGuards) * moment_bytes(), 0);
        second = first;
        std::fill(first.end() - kGuards, first.end(), 0x55);
        std::fill(second.end() - kGuards, second.end(), 0x55);
        first_scale.assign((count + kMomentBlock - 1) / kMomentBlock, 0);
        second_scale = first_scale;
        const ParameterBlock planes = block();
        for (std::size_t i = 0; i < count; ++i)
            set_master(planes, static_cast<std::int64_t>(i), masters[i]);
    }
    std::size_t low_bytes() const {
        return static_cast<std::size_t>(state_precision(state_bytes).low_bytes);
    }
    std::size_t moment_bytes() const {
        return static_cast<std::size_t>(state_precision(state_bytes).moment_bytes);
    }
    bool has_scales() const { return state_precision(state_bytes).has_scales(); }
    ParameterBlock block() {
        return {high.data(),        low.data(),          first.data(),        second.data(),
                first_scale.data(), second_scale.data(), std::int64_t(count), state_bytes};
    }
    float master(std::size_t i) const {
        ParameterBlock planes;
        planes.high = const_cast<std::uint16_t*>(high.data());
        planes.low = const_cast<std::uint8_t*>(low.data());
        planes.state_bytes = state_bytes;
        return master_of(planes, static_cast<std::int64_t>(i));
    }
    float first_moment(std::size_t i) const {
        if (!has_scales()) return wide(first, i);
        const auto code = static_cast<float>(static_cast<std::int8_t>(first[i]));
        return code * std::abs(code) * first_scale[i / kMomentBlock];
    }
    float second_moment(std::size_t i) const {
        if (!has_scales()) return wide(second, i);
        const auto code = static_cast<float>(second[i]);
        const float root = code * code * second_scale[i / kMomentBlock];
        return root * root;
    }
    bool guards_untouched() const {
        for (std::size_t i = 0; i < kGuards; ++i)
            if (high[count + i] != 0x5555 ||
                (!low.empty() && *(low.end() - 1 - std::ptrdiff_t(i)) != 0x55) ||
                *(first.end() - 1 - std::ptrdiff_t(i)) != 0x55 ||
                *(second.end() - 1 - std::ptrdiff_t(i)) != 0x55)
                return false;
        return true;
    }
    bool operator==(const Parameters&) const = default;

  private:
    float wide(const std::vector<std::uint8_t>& moments, std::size_t i) const {
        std::uint32_t bits = 0;
        std::memcpy(&bits, moments.data() + i * moment_bytes(), moment_bytes());
        return std::bit_cast<float>(state_bytes == 8 ? bits << 16 : bits);
    }
};

/// AdamW in float64, as written down in torch.optim.AdamW's documentation.
struct ReferenceAdamW {
    std::vector<double> p, m, v;

    explicit ReferenceAdamW(const std::vector<float>& masters)
        : p(masters.begin(), masters.end()), m(masters.size()), v(masters.size()) {}

    void update(const AdamWStep& s, std::size_t i, bool decay, double gradient) {
        const double beta1 = s.beta1, beta2 = s.beta2, rate = s.learning_rate;
        const auto t = static_cast<double>(s.step);
        const double g = gradient * static_cast<double>(s.gradient_scale);
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        if (decay) p[i] -= rate * static_cast<double>(s.weight_decay) * p[i];
        const double corrected_m = m[i] / (1 - std::pow(beta1, t));
        const double corrected_v = v[i] / (1 - std::pow(beta2, t));
        p[i] -= rate * corrected_m / (std::sqrt(corrected_v) + static_cast<double>(s.epsilon));
    }
};

}  // namespace sluice::test
