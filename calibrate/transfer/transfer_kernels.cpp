#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/transfer/transfer_rules.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

/// The time of a part of the trend on the new GPU over its time on the old one.
double time_factor(std::string_view feature, const Scales& scales) {
    // Launch and latency, and the begin and end of a wave of tiles.
    if (feature == "us" || feature.find("per_wave") != std::string_view::npos) return 1;
    if (feature.find("gflop") != std::string_view::npos) return 1 / scales.compute;
    // Exponentials: the same number per multiprocessor and clock since Volta.
    if (feature.find("scores") != std::string_view::npos) return 1 / scales.multiprocessors;
    return 1 / scales.memory;  // bytes, rows and elements
}

/// A part of the trend with the larger of the times for bytes and for FLOPs, on a machine of that
/// many FLOPs per byte.
struct Balance {
    std::string_view feature;
    double flops_a_byte;
};
constexpr std::array kBalances = {Balance{"us_per_mb_or_100_mflop", 100},
                                  Balance{"us_per_mb_or_200_mflop", 200},
                                  Balance{"us_per_mb_or_400_mflop", 400}};

/// Adds `us` per MB or per the corresponding MFLOP, whichever takes longer. That is linear in bytes
/// per FLOP except for sizes near the balance, so balances in between are a mixture; beyond them
/// all, bytes or FLOPs alone make up the rest.
void add_balance(double us, double bytes_a_flop,
                 const std::function<double&(std::string_view)>& to) {
    const auto bytes_of = [](const Balance& balance) { return 1 / balance.flops_a_byte; };
    const double most = bytes_of(kBalances.front()), least = bytes_of(kBalances.back());
    if (bytes_a_flop >= most) {
        to(kBalances.front().feature) += us;
        to("us_per_gflop") += us * (bytes_a_flop - most) * kKilo;
        return;
    }
    if (bytes_a_flop <= least) {
        const double share = bytes_a_flop / least;
        to(kBalances.back().feature) += us * share;
        for (const char* moved : {"us_per_mb_in", "us_per_mb_out", "us_per_mb_added"})
            to(moved) += us * (1 - share);
        return;
    }
    std::size_t next = 1;
    while (bytes_a_flop < bytes_of(kBalances[next])) ++next;
    const double before = bytes_of(kBalances[next - 1]), after = bytes_of(kBalances[next]);
    const double share = (bytes_a_flop - after) / (before - after);
    to(kBalances[next - 1].feature) += us * share;
    to(kBalances[next].feature) += us * (1 - share);
}

std::vector<double> scaled_trend(const KernelMeasurement& measured, const Scales& scales) {
    const std::vector<std::string>& names = kernel_feature_names(measured.id);
    std::vector<double> out(names.size(), 0);
    const auto to = [&](std::string_view name) -> double& {
        return out[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) -
                                            names.begin())];
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto balance =
            std::find_if(kBalances.begin(), kBalances.end(),
                         [&](const Balance& own) { return own.feature == names[i]; });
        const double us = measured.trend[i] * time_factor(names[i], scales);
        if (balance == kBalances.end())
            out[i] += us;
        else
            add_balance(us, scales.memory / scales.compute / balance->flops_a_byte, to);
    }
    return out;
}

using Coordinates = std::vector<double>;

/// Weights with which the residual at the measured points has its former value `shift` further
/// along the first coordinate.
std::vector<double> shifted_weights(const KernelTable& table, double shift,
                                    std::vector<double>& residuals) {
    const auto count = static_cast<Eigen::Index>(table.at.size());
    Eigen::MatrixXd close(count, count);
    Eigen::VectorXd values(count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Coordinates& point = table.at[static_cast<std::size_t>(i)];
        Coordinates same_waves = point;
        same_waves.front() += shift;
        values(i) = table.residual(same_waves);
        for (Eigen::Index j = 0; j < count; ++j)
            close(i, j) =
                KernelTable::closeness(point, table.at[static_cast<std::size_t>(j)], table.length);
    }
    residuals.assign(values.begin(), values.end());
    // Least norm, so that a shape listed twice has a solution too.
    const Eigen::VectorXd weights = close.completeOrthogonalDecomposition().solve(values);
    return {weights.begin(), weights.end()};
}

double trend_us(const std::vector<double>& trend, KernelTableId id, const std::vector<double>& row,
                double multiprocessors) {
    const std::vector<double> features =
        kernel_features(id, kernel_of_row(id, row), multiprocessors);
    return std::inner_product(trend.begin(), trend.end(), features.begin(), 0.0);
}

/// Widens the range of predicted over measured, less 1, in percent, by the range of the rate.
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
    out.trend = scaled_trend(measured, scales);

    // Waves are tiles over multiprocessors: with more of these, a shape behaves like a smaller one.
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
            std::exp(residuals[i] - table.residual(table.at[i]));
        point.us *= ratio;
        point.us_low *= ratio / range.high;
        point.us_high *= ratio / range.low;
        if (shift != 0) point.weight = weights[i];
    }
    widen(out.held_out, range);
    return out;
}

}  // namespace sluice
