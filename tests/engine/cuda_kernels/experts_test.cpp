// Do the GPU's kernels of experts choose, sort, multiply and add as their formulas in fp64 say?
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

using namespace sluice;

namespace {

/// A choice of experts in device memory.
class DeviceRoutes {
  public:
    DeviceRoutes(std::int64_t tokens, std::int64_t experts, std::int64_t of_token)
        : expert_(numbers(tokens * of_token)),
          row_(expert_),
          copy_(expert_),
          ends_(numbers(experts)),
          weight_(std::vector<float>(static_cast<std::size_t>(tokens * of_token))),
          expert(expert_),
          row(row_),
          copy(copy_),
          ends(ends_),
          weight(weight_) {
        routes.tokens = tokens, routes.experts = experts, routes.of_token = of_token;
        routes.expert = expert.data(), routes.row = row.data(), routes.copy = copy.data();
        routes.ends = ends.data(), routes.weight = weight.data();
    }

  private:
    static std::vector<std::int32_t> numbers(std::int64_t count) {
        return std::vector<std::int32_t>(static_cast<std::size_t>(count), -1);
    }
    std::vector<std::int32_t> expert_, row_, copy_, ends_;
    std::vector<float> weight_;

  public:
    DeviceArray<std::int32_t> expert, row, copy, ends;
    DeviceArray<float> weight;
    ExpertRoutes routes;
};

std::vector<float> random_logits(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& value : out) value = normal(random);
    return out;
}

Matrix matrix_of(const DeviceArray<float>& values, std::int64_t rows, std::int64_t columns) {
    return {values.data(), DType::fp32, rows, columns};
}

/// The experts of a row of logits, the best one first.
std::vector<std::int32_t> chosen_of(const float* logits, std::int64_t experts, std::int64_t count) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return logits[a] > logits[b]; });
    order.resize(static_cast<std::size_t>(count));
    return order;
}

void check_choice(const std::vector<float>& logits, std::int64_t tokens, std::int64_t experts,
                  std::int64_t of_token, RouteWeights weights) {
    CAPTURE(tokens, experts, of_token);
    DeviceRoutes choice(tokens, experts, of_token);
    const DeviceArray<float> there(logits);
    const DeviceArray<double> busiest({3});
    gpu().kernels().route(choice.routes, matrix_of(there, tokens, experts), weights,
                          busiest.data());
    const auto expert = choice.expert.read(), row = choice.row.read(), copy = choice.copy.read(),
               ends = choice.ends.read();
    const auto weight = choice.weight.read();
    std::vector<std::int32_t> counts(static_cast<std::size_t>(experts));
    bool equal = true, inverse = true, in_order = true;
    double worst = 0;
    for (std::int64_t t = 0; t < tokens; ++t) {
        const float* const own = logits.data() + t * experts;
        const auto expected = chosen_of(own, experts, of_token);
        double sum = 0;
        if (weights == RouteWeights::of_all)
            for (std::int64_t e = 0; e < experts; ++e) sum += std::exp(double{own[e]});
        else
            for (const auto e : expected) sum += std::exp(double{own[e]});
        for (std::int64_t i = 0; i < of_token; ++i) {
            const auto at = static_cast<std::size_t>(t * of_token + i);
            const std::int32_t e = expected[static_cast<std::size_t>(i)];
            equal = equal && expert[at] == e;
            worst = std::max(worst, std::abs(weight[at] / (std::exp(double{own[e]}) / sum) - 1));
            ++counts[static_cast<std::size_t>(e)];
        }
    }
    const double most = *std::ranges::max_element(counts);
    CHECK(busiest.read().front() ==
          Approx(3 + most * static_cast<double>(experts) / static_cast<double>(copy.size())));
    std::inclusive_scan(counts.begin(), counts.end(), counts.begin());
    for (std::size_t r = 0; r < copy.size(); ++r) {
        inverse = inverse && row[static_cast<std::size_t>(copy[r])] == static_cast<std::int32_t>(r);
        if (r == 0) continue;
        const auto before = static_cast<std::size_t>(copy[r - 1]),
                   here = static_cast<std::size_t>(copy[r]);
        in_order = in_order && (expert[before] < expert[here] ||
                                (expert[before] == expert[here] && before < here));
    }
    CHECK(equal);
    CHECK(worst < 2e-6);
    CHECK((ends == counts));
    CHECK(inverse);
    CHECK(in_order);
}

/// Rows of 5 experts, of which the second has none.
DeviceRoutes sorted_choice(std::int64_t tokens) {
    DeviceRoutes choice(tokens, 5, 2);
    std::vector<float> logits = random_logits(tokens * 5, 9);
    for (std::int64_t t = 0; t < tokens; ++t) logits[static_cast<std::size_t>(t * 5 + 1)] = -50;
    const DeviceArray<float> there(logits);
    gpu().kernels().route(choice.routes, matrix_of(there, tokens, 5), RouteWeights::of_chosen,
                          nullptr);
    wait_for_device();
    return choice;
}

double at(const std::vector<double>& values, std::int64_t row, std::int64_t columns,
          std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
}

}  // namespace

TEST_CASE("cuda experts: chosen, weighed and sorted", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const RouteWeights weights : {RouteWeights::of_all, RouteWeights::of_chosen}) {
        check_choice(random_logits(700 * 8, 1), 700, 8, 2, weights);
        check_choice(random_logits(3000 * 128, 2), 3000, 128, 8, weights);
        check_choice(random_logits(513 * 300, 3), 513, 300, 4, weights);
        check_choice(random_logits(100 * 512, 4), 100, 512, 32, weights);
        check_choice(random_logits(3, 5), 1, 3, 3, weights);
        // Equal logits choose the first ones: two experts get all tokens.
        check_choice(std::vector<float>(1000 * 40, 0.5F), 1000, 40, 2, weights);
    }
}

TEST_CASE("cuda experts: what is no number chooses nobody twice, and makes weights none",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceRoutes choice(1, 4, 2);
    const DeviceArray<float> there(std::vector<float>(4, NAN));
    gpu().kernels().route(choice.routes, matrix_of(there, 1, 4), RouteWeights::of_chosen, nullptr);
    CHECK((choice.expert.read() == std::vector<std::int32_t>{0, 1}));
    for (const float weight : choice.weight.read()) CHECK(std::isnan(weight));
}

TEST_CASE("cuda experts: gradients of logits", "[cuda_kernels]") {
    if (!has_gpu()) return;
    constexpr std::int64_t kTokens = 300, kExperts = 72, kOfToken = 6;
    const std::vector<float> logits = random_logits(kTokens * kExperts, 6),
                             given = random_logits(kTokens * kOfToken, 7);
    const DeviceArray<float> there(logits), dweights(given);
    for (const RouteWeights weights : {RouteWeights::of_all, RouteWeights::of_chosen}) {
        DeviceRoutes choice(kTokens, kExperts, kOfToken);
        const Matrix in = matrix_of(there, kTokens, kExperts);
        gpu().kernels().route(choice.routes, in, weights, nullptr);
        for (const DType type : {DType::fp32, DType::bf16}) {
            DeviceMatrix out(kTokens, kExperts, type);
            gpu().kernels().route_backward(out.view(), in, choice.routes, dweights.data(), weights);
            std::vector<double> expected;
            for (std::int64_t t = 0; t < kTokens; ++t) {
                const float* const own = logits.data() + t * kExperts;
                const auto chosen = chosen_of(own, kExperts, kOfToken);
                double sum = 0, mean = 0;
                std::vector<double> gradient(kExperts), counts(kExperts);
                for (std::int64_t e = 0; e < kExperts; ++e) {
                    const bool is_chosen = std::ranges::find(chosen, e) != chosen.end();
                    if (weights == RouteWeights::of_chosen && !is_chosen) continue;
                    counts[static_cast<std::size_t>(e)] = std::exp(double{own[e]});
                    sum += counts[static_cast<std::size_t>(e)];
                }
                for (std::int64_t i = 0; i < kOfToken; ++i) {
                    const auto e = static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)]);
                    gradient[e] = double{given[static_cast<std::size_t>(t * kOfToken + i)]};
                    mean += counts[e] / sum * gradient[e];
                }
                for (std::size_t e = 0; e < counts.size(); ++e)
                    expected.push_back(counts[e] / sum * (gradient[e] - mean));
            }
            const Tolerance tolerance{1e-6, type == DType::bf16 ? kBf16Error : 1e-5};
            CHECK(share_of(tolerance, out.read(), expected) <= 1);
            CHECK(out.surroundings_intact());
        }
    }
}

TEST_CASE("cuda experts: copies of tokens, and their sums", "[cuda_kernels]") {
    if (!has_gpu()) return;
    constexpr std::int64_t kTokens = 333;
    const DeviceRoutes choice = sorted_choice(kTokens);
    const auto row = choice.row.read(), copy = choice.copy.read();
    for (const std::int64_t columns : {2048, 24, 37}) {
        DeviceMatrix in(kTokens, columns), copies(2 * kTokens, columns), sums(kTokens, columns);
        in.fill_random(1);
        gpu().kernels().copy_to_experts(copies.view(), in.view(), choice.routes);
        const std::vector<double> values = in.read(), copied = copies.read();
        bool equal = true;
        for (std::int64_t r = 0; r < 2 * kTokens; ++r)
            for (std::int64_t c = 0; c < columns; ++c)
                equal = equal && at(copied, r, columns, c) ==
                                     at(values, copy[static_cast<std::size_t>(r)] / 2, columns, c);
        CHECK(equal);
        CHECK(copies.surroundings_intact());
        copies.fill_random(2);
        const std::vector<double> given = copies.read();
        for (const bool adds : {false, true}) {
            gpu().kernels().sum_of_experts(sums.view(), adds ? in.view() : Matrix{}, copies.view(),
                                           choice.routes);
            std::vector<double> expected;
            for (std::int64_t t = 0; t < kTokens; ++t)
                for (std::int64_t c = 0; c < columns; ++c)
                    expected.push_back(
                        (adds ? at(values, t, columns, c) : 0) +
                        at(given, row[static_cast<std::size_t>(2 * t)], columns, c) +
                        at(given, row[static_cast<std::size_t>(2 * t + 1)], columns, c));
            CHECK(share_of({1e-6, kBf16Error}, sums.read(), expected) <= 1);
        }
    }
}

TEST_CASE("cuda experts: SwiGLU with weights, and all its gradients", "[cuda_kernels]") {
    if (!has_gpu()) return;
    constexpr std::int64_t kTokens = 200;
    const DeviceRoutes choice = sorted_choice(kTokens);
    const auto copy = choice.copy.read();
    const auto weight = choice.weight.read();
    for (const std::int64_t width : {768, 8, 2880}) {
        const std::int64_t rows = 2 * kTokens;
        DeviceMatrix gate_up(rows, 2 * width), product(rows, width);
        const DeviceArray<float> dweights(std::vector<float>(static_cast<std::size_t>(rows), NAN));
        gate_up.fill_random(1, {-3, 3});
        gpu().kernels().expert_swiglu(product.view(), gate_up.view(), choice.routes);
        const std::vector<double> in = gate_up.read(), out = product.read();
        product.fill_random(2);
        const std::vector<double> given = product.read();
        gpu().kernels().expert_swiglu_backward(gate_up.view(), product.view(), choice.routes,
                                               dweights.data());
        std::vector<double> products, gradients, scaled, of_weights(static_cast<std::size_t>(rows));
        for (std::int64_t r = 0; r < rows; ++r) {
            const auto own = static_cast<std::size_t>(copy[static_cast<std::size_t>(r)]);
            const double w = weight[own];
            std::vector<double> dup;
            for (std::int64_t c = 0; c < width; ++c) {
                const double g = at(in, r, 2 * width, c), u = at(in, r, 2 * width, width + c);
                const double s = 1 / (1 + std::exp(-g)), dy = at(given, r, width, c);
                products.push_back(w * g * s * u);
                gradients.push_back(w * dy * u * s * (1 + g * (1 - s)));
                dup.push_back(w * dy * g * s);
                of_weights[own] += dy * g * s * u;
            }
            gradients.insert(gradients.end(), dup.begin(), dup.end());
        }
        CHECK(share_of({1e-5, kBf16Error}, out, products) <= 1);
        CHECK(share_of({1e-5, kBf16Error}, product.read(), products) <= 1);
        CHECK(share_of({1e-5, kBf16Error}, gate_up.read(), gradients) <= 1);
        const std::vector<float> found = dweights.read();
        CHECK(share_of({1e-4 * static_cast<double>(width), 1e-4}, {found.begin(), found.end()},
                       of_weights) <= 1);
    }
}

TEST_CASE("cuda experts: products of each expert's rows, one of them without any",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    constexpr std::int64_t kTokens = 500, kRows = 2 * kTokens, kExperts = 5;
    const DeviceRoutes choice = sorted_choice(kTokens);
    const auto ends = choice.ends.read();
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{72, 40}, {256, 128}}) {
        DeviceMatrix x(kRows, k), y(kRows, n), w(kExperts * n, k), dx(kRows, k),
            dw(kExperts * n, k);
        x.fill_random(1), w.fill_random(2);
        gpu().kernels().expert_products({GemmRole::forward, y.view(), x.view(), w.view()},
                                        choice.routes);
        const auto given = x.read(), weights = w.read(), out = y.read();
        y.fill_random(3);
        const auto dy = y.read();
        gpu().kernels().expert_products({GemmRole::input_gradient, dx.view(), y.view(), w.view()},
                                        choice.routes);
        gpu().kernels().expert_products({GemmRole::weight_gradient, dw.view(), y.view(), x.view()},
                                        choice.routes);
        const auto size = static_cast<std::size_t>(kExperts * n * k);
        std::vector<double> expected(static_cast<std::size_t>(kRows * n)),
            of_input(static_cast<std::size_t>(kRows * k)), of_weights(size);
        for (std::int64_t e = 0, r = 0; e < kExperts; ++e)
            for (; r < ends[static_cast<std::size_t>(e)]; ++r)
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = 0; j < k; ++j) {
                        const double weight = at(weights, e * n + i, k, j);
                        expected[static_cast<std::size_t>(r * n + i)] +=
                            at(given, r, k, j) * weight;
                        of_input[static_cast<std::size_t>(r * k + j)] += at(dy, r, n, i) * weight;
                        of_weights[static_cast<std::size_t>((e * n + i) * k + j)] +=
                            at(dy, r, n, i) * at(given, r, k, j);
                    }
        CHECK(share_of({1e-5 * static_cast<double>(k), kBf16Error}, out, expected) <= 1);
        CHECK(share_of({1e-5 * static_cast<double>(n), kBf16Error}, dx.read(), of_input) <= 1);
        const auto rounded = dw.read();
        CHECK(share_of({1e-5 * static_cast<double>(kTokens), kBf16Error}, rounded, of_weights) <=
              1);
        // Sums in fp32 of what is first rounded.
        DeviceMatrix sums(kExperts * n, k, DType::fp32);
        for (const bool accumulate : {false, true})
            gpu().kernels().expert_products({GemmRole::weight_gradient, sums.view(), y.view(),
                                             x.view(), accumulate, dw.view().data},
                                            choice.routes);
        std::vector<double> twice;
        for (const double value : rounded) twice.push_back(2 * value);
        CHECK((sums.read() == twice));
    }
}
