// RMSNorm of heads, its gradients, and rotary embedding against their formulas in fp64.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

inline std::string text_of(const AttentionShape& shape) {
    return fmt::format("{} x {} tokens, {}/{} heads of {}{}", shape.sequences, shape.sequence,
                       shape.heads, shape.kv_heads, shape.head_dim,
                       shape.window == 0 ? "" : fmt::format(", window {}", shape.window));
}

/// A head of q or k within the rows of a matrix.
struct Head {
    std::size_t begin;  ///< its first element
    bool key;
};
/// The heads of q and k of all tokens in a matrix of rows of `columns`.
inline std::vector<Head> heads_of(const AttentionShape& shape, std::int64_t columns) {
    std::vector<Head> heads;
    for (std::int64_t token = 0; token < shape.tokens(); ++token) {
        for (std::int64_t head = 0; head < shape.heads + shape.kv_heads; ++head)
            heads.push_back({static_cast<std::size_t>(token * columns + head * shape.head_dim),
                             head >= shape.heads});
    }
    return heads;
}

struct HeadNormCase {
    static constexpr const char* kName = "head_norm";
    static constexpr float kEpsilon = 1e-6F;

    struct Shape {
        AttentionShape attention;
        bool keep = true;  ///< q and k as they were
        Layout layout = {};
        std::string text() const {
            return fmt::format("{}{}, padding {}, offset {}", text_of(attention),
                               keep ? ", kept" : "", layout.padding, layout.offset);
        }
    };

    explicit HeadNormCase(Shape shape_)
        : shape(shape_),
          qkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout),
          unnormed(shape.attention.tokens(), qk_width(), DType::bf16, shape.layout),
          query_weight(1, shape.attention.head_dim),
          key_weight(1, shape.attention.head_dim) {
        qkv.fill_random(1);
        query_weight.fill_random(2);
        key_weight.fill_random(3);
    }
    void run(CudaKernels& kernels) {
        kernels.head_norm(shape.attention, qkv.view(), query_weight.vector(), key_weight.vector(),
                          kEpsilon, shape.keep ? unnormed.view() : Matrix{});
    }
    double check(CudaKernels& kernels) {
        const std::array weights{query_weight.read(), key_weight.read()};
        auto expected = qkv.read();
        std::vector<double> before;
        const auto size = static_cast<std::size_t>(shape.attention.head_dim);
        for (const Head& head : heads_of(shape.attention, shape.attention.qkv_width())) {
            double squares = 0;
            for (std::size_t i = 0; i < size; ++i) {
                before.push_back(expected[head.begin + i]);
                squares += before.back() * before.back();
            }
            const double rms =
                std::sqrt(squares / static_cast<double>(size) + static_cast<double>(kEpsilon));
            for (std::size_t i = 0; i < size; ++i)
                expected[head.begin + i] *= weights[head.key ? 1 : 0][i] / rms;
        }
        run(kernels);
        const double kept = shape.keep ? share_of({}, unnormed.read(), before) : 0;
        return std::max({kept, share_of({1e-6, kBf16Error}, qkv.read(), expected),
                         share_of_surroundings({&qkv, &unnormed})});
    }
    double bytes() const {
        return (shape.keep ? 6.0 : 4.0) *
               static_cast<double>(shape.attention.tokens() * qk_width());
    }
    double flops() const { return 0; }

  private:
    std::int64_t qk_width() const {
        return shape.attention.query_width() + shape.attention.key_width();
    }
    Shape shape;
    DeviceMatrix qkv, unnormed, query_weight, key_weight;
};

struct HeadNormBackwardCase {
    static constexpr const char* kName = "head_norm_backward";
    static constexpr float kEpsilon = 1e-6F;

    struct Shape {
        AttentionShape attention;
        DType dweight = DType::bf16;
        bool accumulate = false;
        Layout layout = {};
        std::string text() const {
            return fmt::format("{}, {} dweight{}, padding {}, offset {}", text_of(attention),
                               sluice::text_of(dweight), accumulate ? " added" : "", layout.padding,
                               layout.offset);
        }
    };

    explicit HeadNormBackwardCase(Shape shape_)
        : shape(shape_),
          dqkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout),
          unnormed(shape.attention.tokens(), qk_width(), DType::bf16, shape.layout),
          weights{DeviceMatrix(1, shape.attention.head_dim),
                  DeviceMatrix(1, shape.attention.head_dim)},
          dweights{DeviceMatrix(1, shape.attention.head_dim, shape.dweight),
                   DeviceMatrix(1, shape.attention.head_dim, shape.dweight)} {
        dqkv.fill_random(1);
        unnormed.fill_random(2);
        for (unsigned key = 0; key < 2; ++key) {
            weights[key].fill_random(3 + key);
            if (shape.accumulate) dweights[key].fill_random(5 + key);
        }
    }
    void run(CudaKernels& kernels) {
        kernels.head_norm_backward(shape.attention, dqkv.view(), unnormed.view(),
                                   weights[0].vector(), weights[1].vector(), kEpsilon,
                                   dweights[0].vector(), dweights[1].vector(), shape.accumulate);
    }
    double check(CudaKernels& kernels) {
        const auto size = static_cast<std::size_t>(shape.attention.head_dim);
        const std::array weight_values{weights[0].read(), weights[1].read()};
        std::array<std::vector<double>, 2> sums{std::vector<double>(size, 0),
                                                std::vector<double>(size, 0)};
        if (shape.accumulate) sums = {dweights[0].read(), dweights[1].read()};
        auto gradients = dqkv.read();
        const auto x = unnormed.read();
        std::size_t at = 0;  // heads lie in `unnormed` one behind the other
        for (const Head& head : heads_of(shape.attention, shape.attention.qkv_width())) {
            const std::size_t key = head.key ? 1 : 0;
            backward(&gradients[head.begin], &x[at], weight_values[key], sums[key]);
            at += size;
        }
        run(kernels);
        const Tolerance tolerance =
            gradient_tolerance(shape.dweight, shape.attention.tokens() * shape.attention.heads);
        return std::max({share_of({2e-5, kBf16Error}, dqkv.read(), gradients),
                         share_of(tolerance, dweights[0].read(), sums[0]),
                         share_of(tolerance, dweights[1].read(), sums[1]),
                         share_of_surroundings({&dqkv, &unnormed, &dweights[0], &dweights[1]})});
    }
    double bytes() const {
        return 6.0 * static_cast<double>(shape.attention.tokens() * qk_width());
    }
    double flops() const { return 0; }

  private:
    std::int64_t qk_width() const {
        return shape.attention.query_width() + shape.attention.key_width();
    }
    /// Overwrites dy by dx.
    static void backward(double* dy, const double* x, const std::vector<double>& weight,
                         std::vector<double>& dweight) {
        double squares = 0, product = 0;
        for (std::size_t i = 0; i < weight.size(); ++i) {
            squares += x[i] * x[i];
            product += dy[i] * weight[i] * x[i];
        }
        const auto count = static_cast<double>(weight.size());
        const double rms = std::sqrt(squares / count + static_cast<double>(kEpsilon));
        for (std::size_t i = 0; i < weight.size(); ++i) {
            dweight[i] += dy[i] * x[i] / rms;
            dy[i] = (dy[i] * weight[i] - x[i] / rms * (product / rms) / count) / rms;
        }
    }

    Shape shape;
    DeviceMatrix dqkv, unnormed;
    std::array<DeviceMatrix, 2> weights, dweights;  // of queries, of keys
};

struct RotaryCase {
    static constexpr const char* kName = "rotary";

    struct Shape {
        AttentionShape attention;
        RotaryShape rotary = {};
        bool backward = false;
        Layout layout = {};
        std::string text() const {
            return fmt::format("{}, theta {}, factor {}{}, padding {}, offset {}",
                               text_of(attention), rotary.theta, rotary.factor,
                               backward ? ", back" : "", layout.padding, layout.offset);
        }
    };

    explicit RotaryCase(Shape shape_)
        : shape(shape_),
          qkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout) {
        qkv.fill_random(1);
    }
    void run(CudaKernels& kernels) {
        kernels.rotary(shape.attention, shape.rotary, qkv.view(), shape.backward);
    }
    double check(CudaKernels& kernels) {
        auto expected = qkv.read();
        const std::int64_t half = shape.attention.head_dim / 2;
        const std::int64_t heads = shape.attention.heads + shape.attention.kv_heads;
        std::vector<float> frequencies;
        for (std::int64_t i = 0; i < half; ++i) frequencies.push_back(frequency(i));
        for (std::int64_t token = 0; token < shape.attention.tokens(); ++token) {
            const auto position = static_cast<float>(token % shape.attention.sequence);
            double* row = &expected[static_cast<std::size_t>(token * shape.attention.qkv_width())];
            for (std::int64_t i = 0; i < half; ++i) {
                const float angle = position * frequencies[static_cast<std::size_t>(i)];
                const double cosine = std::cos(static_cast<double>(angle));
                const double sine =
                    std::sin(static_cast<double>(angle)) * (shape.backward ? -1 : 1);
                for (std::int64_t head = 0; head < heads; ++head) {
                    double& a = row[head * shape.attention.head_dim + i];
                    double& b = row[head * shape.attention.head_dim + half + i];
                    const double rotated = a * cosine - b * sine;
                    b = b * cosine + a * sine;
                    a = rotated;
                }
            }
        }
        run(kernels);
        return std::max(share_of({2e-6, kBf16Error}, qkv.read(), expected),
                        share_of_surroundings({&qkv}));
    }
    double bytes() const {
        return 4.0 * static_cast<double>(shape.attention.tokens() * (shape.attention.query_width() +
                                                                     shape.attention.key_width()));
    }
    double flops() const { return 0; }

  private:
    /// As Llama 3.1 writes it: by wavelength, in positions a turn.
    float frequency(std::int64_t i) const {
        const RotaryShape& rotary = shape.rotary;
        const double plain =
            1 / std::pow(rotary.theta, 2.0 * static_cast<double>(i) /
                                           static_cast<double>(shape.attention.head_dim));
        if (rotary.factor == 1) return static_cast<float>(plain);
        const double wavelength = 2 * std::numbers::pi / plain;
        const double longest = rotary.original_positions / rotary.low_frequency_factor;
        const double shortest = rotary.original_positions / rotary.high_frequency_factor;
        if (wavelength > longest) return static_cast<float>(plain / rotary.factor);
        if (wavelength < shortest) return static_cast<float>(plain);
        const double smooth =
            (rotary.original_positions / wavelength - rotary.low_frequency_factor) /
            (rotary.high_frequency_factor - rotary.low_frequency_factor);
        return static_cast<float>((1 - smooth) * plain / rotary.factor + smooth * plain);
    }

    Shape shape;
    DeviceMatrix qkv;
};

}  // namespace sluice
