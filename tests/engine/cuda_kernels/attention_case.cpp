#include "tests/engine/cuda_kernels/attention_case.h"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

double dot(const double* a, const double* b, std::int64_t size) {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

void add_scaled(double* sum, double factor, const double* values, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) sum[i] += factor * values[i];
}

}  // namespace

double attention_share(const std::vector<double>& actual, const std::vector<double>& expected) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (actual.size() != expected.size()) return kInfinity;
    double error_squares = 0, squares = 0, worst = 0, largest = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double error = actual[i] - expected[i];
        error_squares += error * error;
        squares += expected[i] * expected[i];
        worst = std::max(worst, std::abs(error));
        largest = std::max(largest, std::abs(expected[i]));
    }
    const auto count = static_cast<double>(actual.size());
    const double rms_limit = 0.01 * std::sqrt(squares / count) + 1e-4;
    const double share =
        std::max(std::sqrt(error_squares / count) / rms_limit, worst / (0.03 * largest + 1e-3));
    return std::isfinite(error_squares) ? share : kInfinity;
}

double attention_flops(const AttentionShape& shape) {
    const double sequence = static_cast<double>(shape.sequence);
    const double window =
        shape.window > 0 ? std::min(static_cast<double>(shape.window), sequence) : sequence;
    const double scores = window * (sequence - window) + window * (window + 1) / 2;
    return 4.0 * scores * static_cast<double>(shape.sequences * shape.query_width());
}

std::int64_t HostAttention::first_key(std::int64_t token) const {
    std::int64_t begin = token / shape.sequence * shape.sequence;
    if (!documents.empty()) begin = *(std::ranges::upper_bound(documents, token) - 1);
    return shape.window > 0 ? std::max(begin, token - shape.window + 1) : begin;
}

std::vector<double> HostAttention::probabilities(std::int64_t token, std::int64_t head,
                                                 double& log_sum) const {
    const double scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
    std::vector<double> values;
    double sum = 0;
    for (std::int64_t other = first_key(token); other <= token; ++other) {
        const double score = dot(query(token, head), key(other, head), shape.head_dim) * scale;
        values.push_back(std::exp(score));  // |score| < 4 sqrt(d): no overflow in fp64
        sum += values.back();
    }
    for (double& value : values) value /= sum;
    log_sum = std::log(sum);
    return values;
}

std::vector<double> HostAttention::forward(std::vector<double>& statistics) const {
    std::vector<double> out(static_cast<std::size_t>(shape.tokens() * shape.query_width()), 0);
    statistics.assign(static_cast<std::size_t>(shape.tokens() * shape.heads), 0);
    for (std::int64_t token = 0; token < shape.tokens(); ++token) {
        const std::int64_t sequence = token / shape.sequence, position = token % shape.sequence;
        for (std::int64_t head = 0; head < shape.heads; ++head) {
            const std::int64_t row =
                documents.empty() ? (sequence * shape.heads + head) * shape.sequence + position
                                  : token * shape.heads + head;
            const auto weights =
                probabilities(token, head, statistics[static_cast<std::size_t>(row)]);
            double* result =
                &out[static_cast<std::size_t>(token * shape.query_width() + head * shape.head_dim)];
            const std::int64_t first = first_key(token);
            for (std::int64_t other = first; other <= token; ++other)
                add_scaled(result, weights[static_cast<std::size_t>(other - first)],
                           value(other, head), shape.head_dim);
        }
    }
    return out;
}

std::vector<double> HostAttention::backward(const std::vector<double>& dout) const {
    const double scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
    std::vector<double> dqkv(qkv.size(), 0);
    for (std::int64_t token = 0; token < shape.tokens(); ++token) {
        for (std::int64_t head = 0; head < shape.heads; ++head) {
            double log_sum = 0;
            const auto weights = probabilities(token, head, log_sum);
            const double* d = &dout[static_cast<std::size_t>(token * shape.query_width() +
                                                             head * shape.head_dim)];
            const std::int64_t first = first_key(token);
            double mean = 0;  // of dP under P
            for (std::int64_t other = first; other <= token; ++other)
                mean += weights[static_cast<std::size_t>(other - first)] *
                        dot(d, value(other, head), shape.head_dim);
            for (std::int64_t other = first; other <= token; ++other) {
                const double weight = weights[static_cast<std::size_t>(other - first)];
                const double dscore =
                    weight * (dot(d, value(other, head), shape.head_dim) - mean) * scale;
                add_scaled(&dqkv[index(token, head * shape.head_dim)], dscore, key(other, head),
                           shape.head_dim);
                add_scaled(&dqkv[key_index(other, head)], dscore, query(token, head),
                           shape.head_dim);
                add_scaled(&dqkv[value_index(other, head)], weight, d, shape.head_dim);
            }
        }
    }
    return dqkv;
}

double AttentionBackwardCase::share_of_parts(const std::vector<double>& actual,
                                             const std::vector<double>& expected) const {
    const AttentionShape& attention = shape.attention;
    const std::int64_t columns[] = {0, attention.query_width(),
                                    attention.query_width() + attention.key_width(),
                                    attention.qkv_width()};
    double worst = 0;
    for (int part = 0; part < 3; ++part) {
        std::vector<double> actual_part, expected_part;
        for (std::int64_t token = 0; token < attention.tokens(); ++token) {
            for (std::int64_t column = columns[part]; column < columns[part + 1]; ++column) {
                const auto at = static_cast<std::size_t>(token * attention.qkv_width() + column);
                actual_part.push_back(actual[at]);
                expected_part.push_back(expected[at]);
            }
        }
        worst = std::max(worst, attention_share(actual_part, expected_part));
    }
    return worst;
}

}  // namespace sluice
