#include "engine/kernels/cpu_experts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace sluice::cpu {
namespace {

using at::Tensor;

/// Rows that are converted to fp32 at once.
constexpr std::int64_t kRows = 256;

void require_logits(const Matrix& logits, const ExpertRoutes& routes) {
    require(logits.type == DType::fp32 && logits.rows == routes.tokens &&
                logits.columns == routes.experts && routes.of_token <= routes.experts,
            "route", "fp32 logits of (tokens, experts), and as many experts as a token has");
}

const float* logits_of(const Matrix& logits, std::int64_t token) {
    return static_cast<const float*>(logits.data) + token * logits.stride;
}

/// exp(logit - the largest) / the sum of `over`, in place; the largest is the first of `order`.
void softmax(const float* logits, const std::vector<std::int32_t>& order, std::int64_t over,
             std::vector<float>& out) {
    const float largest = logits[order.front()];
    float sum = 0;
    for (std::int64_t i = 0; i < over; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[at] = std::exp(logits[order[at]] - largest);
        sum += out[at];
    }
    for (float& value : out) value /= sum;
}

/// Calls use(expert, first row, rows) for each expert, in their order.
template <typename Use>
void each_expert(const ExpertRoutes& routes, Use use) {
    std::int64_t begin = 0;
    for (std::int64_t expert = 0; expert < routes.experts; ++expert) {
        const std::int64_t end = routes.ends[expert];
        use(expert, begin, end - begin);
        begin = end;
    }
}

void sort_by_expert(const ExpertRoutes& out) {
    std::vector<std::int32_t> next(static_cast<std::size_t>(out.experts), 0);
    for (std::int64_t i = 0; i < out.rows(); ++i) ++next[static_cast<std::size_t>(out.expert[i])];
    std::inclusive_scan(next.begin(), next.end(), out.ends);
    std::int32_t begin = 0;
    for (std::int64_t expert = 0; expert < out.experts; ++expert) {
        next[static_cast<std::size_t>(expert)] = begin;
        begin = out.ends[expert];
    }
    for (std::int64_t i = 0; i < out.rows(); ++i) {
        const std::int32_t row = next[static_cast<std::size_t>(out.expert[i])]++;
        out.row[i] = row;
        out.copy[row] = static_cast<std::int32_t>(i);
    }
}

/// The weights of rows [begin, begin + count) as a column.
Tensor weights_of(const ExpertRoutes& routes, std::int64_t begin, std::int64_t count) {
    const Tensor out = at::empty({count, 1}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i)
        out.data_ptr<float>()[i] = routes.weight[routes.copy[begin + i]];
    return out;
}

template <typename Use>
void each_piece(std::int64_t rows, Use use) {
    for (std::int64_t begin = 0; begin < rows; begin += kRows)
        use(begin, std::min(kRows, rows - begin));
}

}  // namespace

void route(const ExpertRoutes& out, const Matrix& logits, RouteWeights weights) {
    require_logits(logits, out);
    std::vector<std::int32_t> order(static_cast<std::size_t>(out.experts));
    std::vector<float> shares(order.size()), keys(order.size());
    const auto chosen = static_cast<std::ptrdiff_t>(out.of_token);
    for (std::int64_t token = 0; token < out.tokens; ++token) {
        const float* const row = logits_of(logits, token);
        std::iota(order.begin(), order.end(), 0);
        // A NaN is behind all numbers, and makes the weights NaN, too.
        std::transform(row, row + out.experts, keys.begin(), [](float logit) {
            return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
        });
        std::partial_sort(order.begin(), order.begin() + chosen, order.end(), [&](auto a, auto b) {
            const float one = keys[static_cast<std::size_t>(a)];
            const float other = keys[static_cast<std::size_t>(b)];
            return one > other || (one == other && a < b);
        });
        softmax(row, order, weights == RouteWeights::of_all ? out.experts : out.of_token, shares);
        std::copy_n(order.begin(), chosen, out.expert + token * chosen);
        std::copy_n(shares.begin(), chosen, out.weight + token * chosen);
    }
    sort_by_expert(out);
}

// w = softmax(logits), of all or of the chosen: dlogit = w (dw - the sum of w dw), where dw is 0
// for experts that were not chosen.
void route_backward(const Matrix& dlogits, const Matrix& logits, const ExpertRoutes& routes,
                    const float* dweights, RouteWeights weights) {
    require_logits(logits, routes);
    const Tensor out = view(dlogits);
    for (std::int64_t token = 0; token < routes.tokens; ++token) {
        const std::int64_t first = token * routes.of_token;
        float mean = 0;
        for (std::int64_t i = first; i < first + routes.of_token; ++i)
            mean += routes.weight[i] * dweights[i];
        const Tensor gradient = at::zeros({routes.experts}, at::kFloat);
        auto* const values = gradient.data_ptr<float>();
        if (weights == RouteWeights::of_all) {
            const Tensor all = view(logits).narrow(0, token, 1).softmax(1);
            const auto* const share = all.data_ptr<float>();
            for (std::int64_t e = 0; e < routes.experts; ++e) values[e] = -share[e] * mean;
        }
        for (std::int64_t i = first; i < first + routes.of_token; ++i)
            values[routes.expert[i]] = routes.weight[i] * (dweights[i] - mean);
        store(out[token], gradient);
    }
}

void copy_to_experts(const Matrix& copies, const Matrix& in, const ExpertRoutes& routes) {
    require(copies.rows == routes.rows() && in.rows == routes.tokens &&
                copies.columns == in.columns && copies.type == in.type,
            "copy_to_experts", "(copies, columns) from (tokens, columns)");
    for (std::int64_t row = 0; row < copies.rows; ++row) {
        const Matrix from = in.row_range(routes.copy[row] / routes.of_token, 1);
        std::copy_n(static_cast<const char*>(from.data), from.columns * bytes_of(from.type),
                    static_cast<char*>(copies.row_range(row, 1).data));
    }
}

void sum_of_experts(const Matrix& y, const Matrix& addend, const Matrix& copies,
                    const ExpertRoutes& routes) {
    require(copies.rows == routes.rows() && y.rows == routes.tokens && copies.columns == y.columns,
            "sum_of_experts", "(tokens, columns) from (copies, columns)");
    const Tensor all = view(copies), out = view(y);
    for (std::int64_t token = 0; token < y.rows; ++token) {
        const Tensor sum = addend.present() ? fp32(view(addend.row_range(token, 1))[0]).clone()
                                            : at::zeros({y.columns}, at::kFloat);
        for (std::int64_t i = 0; i < routes.of_token; ++i)
            sum.add_(fp32(all[routes.row[token * routes.of_token + i]]));
        store(out[token], sum);
    }
}

void expert_products(const Kernels::ExpertProducts& of, const ExpertRoutes& routes) {
    const bool gradient = of.role == GemmRole::weight_gradient;
    // Rows of one expert in the matrix that has those of all.
    const std::int64_t of_weights = (gradient ? of.d : of.b).rows / routes.experts;
    each_expert(routes, [&](std::int64_t expert, std::int64_t begin, std::int64_t rows) {
        const Matrix weights = (gradient ? of.d : of.b).row_range(expert * of_weights, of_weights);
        if (rows == 0) {
            if (gradient && !of.accumulate) view(weights).zero_();
            return;
        }
        Kernels::Product one;
        one.a = of.a.row_range(begin, rows);
        if (gradient) {
            one.d = weights, one.b = of.b.row_range(begin, rows);
            one.transpose_a = Transpose::yes;
            one.accumulate = of.accumulate && weights.type == DType::fp32;
        } else {
            one.d = of.d.row_range(begin, rows), one.b = weights;
            if (of.role == GemmRole::forward) one.transpose_b = Transpose::yes;
        }
        gemm(one);
    });
}

void expert_swiglu(const Matrix& product, const Matrix& gate_up, const ExpertRoutes& routes) {
    each_piece(product.rows, [&](std::int64_t begin, std::int64_t count) {
        const auto halves = view(gate_up.row_range(begin, count)).chunk(2, 1);
        store(view(product.row_range(begin, count)),
              at::silu(fp32(halves[0])).mul_(halves[1]).mul_(weights_of(routes, begin, count)));
    });
}

void expert_swiglu_backward(const Matrix& gate_up, const Matrix& dproduct,
                            const ExpertRoutes& routes, float* dweights, const EightBits& codes) {
    each_piece(dproduct.rows, [&](std::int64_t begin, std::int64_t count) {
        const Tensor out = view(gate_up.row_range(begin, count));
        const Tensor values =
            codes.present() ? read_eight_bits(codes.rows_from(begin), count) : fp32(out).clone();
        const Tensor weights = weights_of(routes, begin, count);
        const Tensor gradient = view(dproduct.row_range(begin, count));
        const Tensor given = fp32(gradient).clone();
        // swiglu_backward() leaves the product in place of its gradient, in fp32 here.
        const Tensor scaled = given * weights, changed = at::empty_like(values);
        swiglu_backward(values, changed, scaled);
        const Tensor sums = (given * scaled).sum(1);
        for (std::int64_t i = 0; i < count; ++i)
            dweights[routes.copy[begin + i]] = sums.data_ptr<float>()[i];
        store(out, changed);
        store(gradient, scaled * weights);
    });
}

}  // namespace sluice::cpu
