#include "calibrate/transfer/transfer_kernels.h"

#include <Eigen/QR>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

bool is_gemm(KernelTableId id) { return id <= KernelTableId::gemm_weight_gradient; }
bool is_attention(KernelTableId id) {
    return id == KernelTableId::attention_forward || id == KernelTableId::attention_backward;
}

/// What a part of the trend takes on the new GPU, of what it took.
double time_factor(std::string_view feature, const Scales& scales) {
    if (feature == "us") return 1;  // launch and latency
    if (feature.find("gflop") != std::string_view::npos) return 1 / scales.compute;
    // Exponentials: as many a multiprocessor and clock since Volta.
    if (feature.find("scores") != std::string_view::npos) return 1 / scales.multiprocessors;
    return 1 / scales.memory;  // bytes, rows and elements
}

using Coordinates = std::vector<double>;

double closeness(const Coordinates& a, const Coordinates& b, double length) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::exp(-std::sqrt(squares) / length);
}

double residual_at(const KernelTable& table, const Coordinates& x) {
    double sum = 0;
    for (std::size_t i = 0; i < table.weight.size(); ++i)
        sum += table.weight[i] * closeness(table.at[i], x, table.length);
    return sum;
}

/// Weights that make the residual at the measured points what it was `shift` further along the
/// first coordinate.
std::vector<double> shifted_weights(const KernelTable& table, double shift,
                                    std::vector<double>& residuals) {
    const auto count = static_cast<Eigen::Index>(table.at.size());
    Eigen::MatrixXd close(count, count);
    Eigen::VectorXd values(count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Coordinates& point = table.at[static_cast<std::size_t>(i)];
        Coordinates same_waves = point;
        same_waves.front() += shift;
        values(i) = residual_at(table, same_waves);
        for (Eigen::Index j = 0; j < count; ++j)
            close(i, j) = closeness(point, table.at[static_cast<std::size_t>(j)], table.length);
    }
    residuals.assign(values.begin(), values.end());
    // Least norm, so that a shape listed twice has an answer too.
    const Eigen::VectorXd weights = close.completeOrthogonalDecomposition().solve(values);
    return {weights.begin(), weights.end()};
}

double trend_us(const std::vector<double>& trend, KernelTableId id, const std::vector<double>& row,
                double multiprocessors) {
    const std::vector<double> features =
        kernel_features(id, kernel_of_row(id, row), multiprocessors);
    return std::inner_product(trend.begin(), trend.end(), features.begin(), 0.0);
}

/// Of a range of predicted over measured, less 1, in percent: the rate may be higher or lower too.
void widen(HeldOutError& error, const RateRange& range) {
    error.low_percent = 100 * ((1 + error.low_percent / 100) * range.low - 1);
    error.high_percent = 100 * ((1 + error.high_percent / 100) * range.high - 1);
}

}  // namespace

RateRange range_of_kernels(KernelTableId id, const Scales& scales) {
    if (is_gemm(id)) return scales.compute_range;
    return is_attention(id) ? scales.attention_range : scales.memory_range;
}

KernelMeasurement transfer_kernels(const KernelMeasurement& measured, const Scales& scales) {
    KernelMeasurement out = measured;
    const KernelTable table = measured.table();
    const std::vector<std::string>& features = kernel_feature_names(measured.id);
    for (std::size_t i = 0; i < features.size(); ++i)
        out.trend[i] *= time_factor(features[i], scales);

    // Waves are tiles over multiprocessors: with more of these a shape is like a smaller one.
    const bool has_waves = is_gemm(measured.id) || is_attention(measured.id);
    const double shift = has_waves ? -std::log2(scales.multiprocessors) : 0;
    std::vector<double> residuals;
    const std::vector<double> weights = shifted_weights(table, shift, residuals);
    const RateRange range = range_of_kernels(measured.id, scales);
    for (std::size_t i = 0; i < out.points.size(); ++i) {
        KernelPoint& point = out.points[i];
        const double ratio =
            trend_us(out.trend, out.id, point.row, scales.new_multiprocessors) /
            trend_us(measured.trend, out.id, point.row, scales.old_multiprocessors) *
            std::exp(residuals[i] - residual_at(table, table.at[i]));
        point.us *= ratio;
        point.us_low *= ratio / range.high;
        point.us_high *= ratio / range.low;
        if (shift != 0) point.weight = weights[i];
    }
    widen(out.held_out, range);
    return out;
}

}  // namespace sluice
