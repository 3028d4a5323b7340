#include <cstdio>
#include <limits>

#include "engine/optimizer/adamw.h"
#include "tests/catch.h"
#include "tests/engine/optimizer/test_parameters.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::size_t kBlock = kMomentBlock;

/// Moments right after a first step: 0.1 g and 0.05 g^2 before they are rounded.
Parameters first_step(const std::vector<float>& gradients, int state_bytes, std::uint64_t seed,
                      float master = 0.5F) {
    Parameters parameters(std::vector<float>(gradients.size(), master), state_bytes);
    AdamWStep step;
    step.seed = seed;
    adamw_range(UpdatePass::update, step, parameters.block(), 0, std::int64_t(gradients.size()),
                true, {nullptr, gradients.data()});
    return parameters;
}

/// Logistic regression: 300 features of very different size, 20% of the labels random.
struct Regression {
    static constexpr std::size_t kSamples = 1000, kFeatures = 300;
    std::vector<float> features = normal_values(kSamples * kFeatures, 1, 1);
    std::vector<float> truth = normal_values(kFeatures, 0.3F, 2);
    std::vector<bool> labels = std::vector<bool>(kSamples);

    Regression() {
        std::mt19937 random(3);
        for (std::size_t s = 0; s < kSamples; ++s) {
            double sum = 0;
            for (std::size_t f = 0; f < kFeatures; ++f) {
                sum += double{features[s * kFeatures + f]} * truth[f];
                features[s * kFeatures + f] *= std::pow(10.0F, -static_cast<float>(f % 4));
            }
            labels[s] = random() % 5 == 0 ? random() % 2 == 0 : sum > 0;
        }
    }
    template <class Weight>
    double margin(std::size_t sample, const Weight& weight) const {
        double sum = 0;
        for (std::size_t f = 0; f < kFeatures; ++f)
            sum += double{features[sample * kFeatures + f]} * double{weight(f)};
        return labels[sample] ? sum : -sum;
    }
    template <class Weight>
    double loss(const Weight& weight) const {
        double sum = 0;
        for (std::size_t s = 0; s < kSamples; ++s) sum += std::log1p(std::exp(-margin(s, weight)));
        return sum / kSamples;
    }
    template <class Weight>
    std::vector<float> batch_gradient(int step, const Weight& weight) const {
        constexpr std::size_t kBatch = 16;
        std::mt19937 random(static_cast<unsigned>(step));
        std::vector<float> gradient(kFeatures);
        for (std::size_t b = 0; b < kBatch; ++b) {
            const std::size_t s = random() % kSamples;
            const double slope = 1 / (1 + std::exp(margin(s, weight))) / kBatch;
            const auto factor = static_cast<float>(labels[s] ? -slope : slope);
            for (std::size_t f = 0; f < kFeatures; ++f)
                gradient[f] += factor * features[s * kFeatures + f];
        }
        return gradient;
    }
};

AdamWStep regression_step(int t) {
    AdamWStep step;
    step.learning_rate = 0.02F * (1 - static_cast<float>(t - 1) / 400);
    step.weight_decay = 0.01F;
    step.step = t;
    return step;
}

double trained_loss(const Regression& problem, int state_bytes) {
    Parameters parameters(std::vector<float>(Regression::kFeatures), state_bytes);
    const auto weight = [&](std::size_t i) { return parameters.master(i); };
    for (int t = 1; t <= 400; ++t) {
        const std::vector<float> gradient = problem.batch_gradient(t, weight);
        adamw_range(UpdatePass::update, regression_step(t), parameters.block(), 0,
                    Regression::kFeatures, true, {nullptr, gradient.data()});
    }
    return problem.loss(weight);
}

double reference_loss(const Regression& problem) {
    ReferenceAdamW reference{std::vector<float>(Regression::kFeatures)};
    const auto weight = [&](std::size_t i) { return reference.p[i]; };
    for (int t = 1; t <= 400; ++t) {
        const std::vector<float> gradient = problem.batch_gradient(t, weight);
        for (std::size_t i = 0; i < gradient.size(); ++i)
            reference.update(regression_step(t), i, true, double{gradient[i]});
    }
    return problem.loss(weight);
}

}  // namespace

TEST_CASE("adamw: bf16 moments are neighbours of the exact ones and right in the mean",
          "[optimizer]") {
    const std::vector<float> gradients = normal_values(1000, 1, 4);
    std::vector<double> first(1000), second(1000);
    constexpr int kSeeds = 400;
    bool neighbours = true;
    for (int seed = 0; seed < kSeeds; ++seed) {
        const Parameters parameters = first_step(gradients, 8, static_cast<std::uint64_t>(seed));
        for (std::size_t i = 0; i < 1000; ++i) {
            const double exact = 0.1 * double{gradients[i]};
            const double stored = parameters.first_moment(i);
            neighbours = neighbours && std::abs(stored - exact) <= std::abs(exact) / 128;
            first[i] += stored / exact / kSeeds;
            second[i] += double{parameters.second_moment(i)} / (5 * exact * exact) / kSeeds;
        }
    }
    CHECK(neighbours);
    double sum_first = 0, sum_second = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        // One rounding misses by at most 2^-7; the mean of 400 by 5 deviations of 2^-8 / 20.
        CHECK(first[i] == Approx(1).margin(1e-3));
        CHECK(second[i] == Approx(1).margin(1e-3));
        sum_first += first[i] / 1000;
        sum_second += second[i] / 1000;
    }
    CHECK(sum_first == Approx(1).margin(2e-5));
    CHECK(sum_second == Approx(1).margin(2e-5));
}

TEST_CASE("adamw: small masters are neighbours of the exact ones and right in the mean",
          "[optimizer]") {
    constexpr int kSeeds = 4000, kMasters = 384;
    const std::vector<float> gradients = normal_values(kMasters, 1, 7);
    for (const int bytes : {5, 4}) {
        const double unit = std::exp2(bytes == 5 ? -16 : -8);  // of a number from 0.5 to 1
        std::vector<double> mean(kMasters);
        bool neighbours = true;
        for (int seed = 0; seed < kSeeds; ++seed) {
            // The same moments, so that only the master's rounding differs.
            const auto one = static_cast<std::uint64_t>(seed);
            const Parameters small = first_step(gradients, bytes, one, 0.75F),
                             exact = first_step(gradients, 6, one, 0.75F);
            for (std::size_t i = 0; i < kMasters; ++i) {
                const double miss = double{small.master(i)} - double{exact.master(i)};
                neighbours = neighbours && std::abs(miss) < unit;
                mean[i] += miss / unit / kSeeds;
            }
        }
        CAPTURE(bytes);
        CHECK(neighbours);
        double sum = 0;
        for (std::size_t i = 0; i < kMasters; ++i) {
            CHECK(std::abs(mean[i]) < 5 * 0.5 / std::sqrt(kSeeds));  // 5 deviations of one
            sum += mean[i] / kMasters;
        }
        CHECK(std::abs(sum) < 5 * 0.5 / std::sqrt(kSeeds * kMasters));
    }
}

TEST_CASE("adamw: 8-bit moments are right in the mean and keep zeros", "[optimizer]") {
    std::vector<float> gradients = normal_values(kBlock + 72, 1, 5);
    gradients[9] = 0;
    constexpr int kSeeds = 2000;
    std::vector<double> first(gradients.size()), second(gradients.size());
    for (int seed = 0; seed < kSeeds; ++seed) {
        const Parameters parameters = first_step(gradients, 6, static_cast<std::uint64_t>(seed));
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            first[i] += double{parameters.first_moment(i)} / kSeeds;
            second[i] += double{parameters.second_moment(i)} / kSeeds;
        }
    }
    CHECK(first[9] == 0);
    CHECK(second[9] == 0);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const double m = 0.1 * double{gradients[i]}, v = 5 * m * m;
        // Gaps between codes, from their formulas with maxima of about 0.3 and 0.45; the mean of
        // 2000 misses by at most 5 deviations of half a gap / sqrt(2000), 6% of a gap.
        const double gap_m = 2 * std::sqrt(std::abs(m) * 0.3) / 127 + 0.3 / 127 / 127;
        const double gap_v = 4 * std::pow(v, 0.75) * std::pow(0.45, 0.25) / 255 + 1e-6;
        CHECK(first[i] == Approx(m).margin(0.06 * gap_m));
        CHECK(second[i] == Approx(v).margin(0.06 * gap_v));
    }
}

TEST_CASE("adamw: an 8-bit second moment is never zero where there was a gradient", "[optimizer]") {
    // Within one block from 1 to 1e-9. Without rounding each element moves by the learning rate or,
    // where epsilon is not far below the gradient, by less. See moment_codes.h for the factor of 4.
    std::vector<float> gradients(kBlock);
    for (std::size_t i = 0; i < kBlock; ++i)
        gradients[i] = std::pow(10.0F, -9.0F * static_cast<float>(i) / (kBlock - 1));
    const double rate = double{AdamWStep{}.learning_rate}, decay = 0.1;
    double least = 1, most_moved = 0, sum_moved = 0;
    constexpr int kSeeds = 200;
    for (int seed = 0; seed < kSeeds; ++seed) {
        const Parameters parameters = first_step(gradients, 6, static_cast<std::uint64_t>(seed));
        for (std::size_t i = 0; i < kBlock; ++i) {
            least = std::min(least, double{parameters.second_moment(i)});
            const double moved = 0.5 - 0.5 * rate * decay - double{parameters.master(i)};
            most_moved = std::max(most_moved, moved / rate);
            sum_moved += moved / rate / kSeeds / kBlock;
        }
    }
    CHECK(least > 0);
    CHECK(most_moved > 1);
    CHECK(most_moved < 4.1);
    CHECK(sum_moved < 1);
}

TEST_CASE("adamw: 8-bit moments of blocks with tiny or huge gradients stay finite", "[optimizer]") {
    for (const float size : {1e-30F, 1e-18F, 1e-12F, 1e15F}) {
        const std::vector<float> gradients = normal_values(kBlock, size, 6);
        const Parameters parameters = first_step(gradients, 6, 1);
        CAPTURE(size);
        for (std::size_t i = 0; i < kBlock; ++i) {
            CHECK(std::isfinite(parameters.master(i)));
            CHECK(std::abs(double{parameters.master(i)} - 0.5) < 2.1e-3);
        }
    }
}

TEST_CASE("adamw: all sizes of state train a noisy logistic regression as float64 does",
          "[optimizer]") {
    const Regression problem;
    const double exact = reference_loss(problem);
    CHECK(exact < 0.8 * std::log(2.0));  // where it starts
    for (const int bytes : {12, 8, 6, 5, 4}) {
        const double factor = trained_loss(problem, bytes) / exact;
        CAPTURE(bytes);
        CHECK(factor == Approx(1).margin(bytes == 12 ? 1e-6 : bytes == 8 ? 0.001 : 0.01));
        std::printf("logistic regression, %d bytes: loss %.6f, %+.1e of float64's\n", bytes,
                    factor * exact, factor - 1);
    }
}
