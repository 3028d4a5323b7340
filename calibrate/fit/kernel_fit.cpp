#include "calibrate/fit/kernel_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/fit/regression.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

// From the 5th to the 95th percentile a normal distribution has 3.29 deviations.
constexpr double kDeviationsOfRange = 3.29;
// A smaller spread is the luck of few groups of calls.
constexpr double kLeastDeviation = 0.002;
// That many shapes determine more than a constant and a slope.
constexpr std::size_t kFewShapes = 4;
// The limits of profiles.
constexpr double kLargestSize = 1e8, kLargestRow = 1e12;
// If a size hardly matters (short kernels, idle multiprocessors), times of doubled sizes differ by
// measurement errors.
constexpr double kNoise = 0.03;

std::string shape_text(KernelTableId id, std::span<const double> shape) {
    std::string text;
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += fmt::format("{}{} {:.0f}", i == 0 ? "" : ", ", kernel_columns(id)[i], shape[i]);
    return text;
}

/// Looks up kernels of one table, like the planner.
class Model {
  public:
    Model(KernelTableId id, double multiprocessors) : id_(id), multiprocessors_(multiprocessors) {}
    std::vector<double> features(const std::vector<double>& shape) const {
        return kernel_features(id_, kernel_of_row(id_, shape), multiprocessors_);
    }
    std::vector<double> coordinates(const std::vector<double>& shape) const {
        return kernel_coordinates(id_, kernel_of_row(id_, shape));
    }
    double us(const KernelTable& table, const std::vector<double>& shape) const {
        return table.time(features(shape), coordinates(shape)) * kMega;
    }

  private:
    KernelTableId id_;
    double multiprocessors_;
};

struct Rows {
    std::vector<FittedKernel> fitted, held_out;
};

[[noreturn]] void wrong(KernelTableId id, const CaseTable& table, std::size_t row,
                        std::string_view column, std::string_view expected) {
    throw InputError(fmt::format(
        "table {}, row {}: {} is {}, expected {}; measure it again: sluice-calibrate --only {}",
        table.name, row, column, table.at(row, column), expected, kernel_table_case(id)));
}

FittedKernel checked_row(KernelTableId id, const CaseTable& table, std::size_t row) {
    FittedKernel kernel;
    for (const std::string& column : kernel_columns(id)) {
        const double size = table.at(row, column);
        const double least = column == "added" ? 0 : 1;
        const double most = column == "columns" ? kLargestRow : kLargestSize;
        if (!(size >= least && size <= most))
            wrong(id, table, row, column, fmt::format("{} to {:g}", least, most));
        kernel.shape.push_back(size);
    }
    for (const char* column : {"us_low", "us", "us_high"}) {
        const double us = table.at(row, column);
        if (!std::isfinite(us) || us <= 0) wrong(id, table, row, column, "a time > 0");
    }
    kernel.us = table.at(row, "us");
    kernel.us_low = std::min(kernel.us, table.at(row, "us_low"));
    kernel.us_high = std::max(kernel.us, table.at(row, "us_high"));
    return kernel;
}

/// Mean time, widest range.
std::vector<FittedKernel> merged(const std::vector<FittedKernel>& kernels) {
    std::map<std::vector<double>, std::pair<FittedKernel, int>> by_shape;
    for (const FittedKernel& kernel : kernels) {
        const auto [found, is_new] = by_shape.try_emplace(kernel.shape, kernel, 0);
        auto& [sum, count] = found->second;
        if (!is_new) sum.us += kernel.us;
        sum.us_low = std::min(sum.us_low, kernel.us_low);
        sum.us_high = std::max(sum.us_high, kernel.us_high);
        ++count;
    }
    std::vector<FittedKernel> result;
    for (auto& [shape, entry] : by_shape) {
        entry.first.us /= entry.second;
        result.push_back(std::move(entry.first));
    }
    return result;
}

Rows split_rows(KernelTableId id, const CaseTable& table) {
    Rows rows;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const bool held_out = table.at(row, "held_out") != 0;
        (held_out ? rows.held_out : rows.fitted).push_back(checked_row(id, table, row));
    }
    if (rows.fitted.empty()) {
        throw InputError(
            fmt::format("table {}: {} rows, of which none is to be fitted (held_out 0), expected "
                        "at least one; measure it "
                        "again: sluice-calibrate --only {}",
                        table.name, table.rows.size(), kernel_table_case(id)));
    }
    rows.fitted = merged(rows.fitted);
    return rows;
}

/// Few shapes determine only a constant and the feature that grows fastest with all sizes.
std::vector<std::size_t> trend_features(KernelTableId id, std::size_t shapes) {
    const std::vector<std::string>& names = kernel_feature_names(id);
    const auto gflop = std::find(names.begin(), names.end(), "us_per_gflop");
    const auto fastest =
        gflop == names.end() ? names.size() - 1 : static_cast<std::size_t>(gflop - names.begin());
    if (shapes == 1) return {fastest};
    if (shapes < kFewShapes) return {0, fastest};
    std::vector<std::size_t> all(names.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}

std::vector<double> fit_trend(KernelTableId id, const Model& model,
                              const std::vector<FittedKernel>& fitted) {
    const std::vector<std::size_t> chosen = trend_features(id, fitted.size());
    FeatureRows rows;
    std::vector<double> us;
    for (const FittedKernel& kernel : fitted) {
        const std::vector<double> all = model.features(kernel.shape);
        rows.emplace_back();
        for (const std::size_t feature : chosen) rows.back().push_back(all[feature]);
        us.push_back(kernel.us);
    }
    const std::vector<double> found = non_negative_least_squares(rows, us, relative_weights(us));
    std::vector<double> trend(kernel_feature_names(id).size(), 0);
    for (std::size_t i = 0; i < chosen.size(); ++i) trend[chosen[i]] = found[i];
    return trend;
}

double measured_variance(const FittedKernel& kernel) {
    const double deviation = std::log(kernel.us_high / kernel.us_low) / kDeviationsOfRange;
    return std::max(deviation * deviation, kLeastDeviation * kLeastDeviation);
}

bool can_double(const std::vector<std::string>& columns, const std::vector<double>& shape,
                std::size_t size) {
    if (columns[size] == "added") return false;
    if (columns[size] != "kv_heads") return true;
    const auto heads = std::find(columns.begin(), columns.end(), "heads") - columns.begin();
    return 2 * shape[size] <= shape[static_cast<std::size_t>(heads)];
}

/// Shapes that decrease and those that they decrease to.
std::vector<bool> takes_part(const std::vector<std::vector<double>>& shapes,
                             const std::vector<Decrease>& decreases) {
    std::vector<bool> result(shapes.size(), false);
    for (const Decrease& decrease : decreases) {
        result[decrease.shape] = true;
        const auto to = std::find(shapes.begin(), shapes.end(), decrease.to);
        if (to != shapes.end()) result[static_cast<std::size_t>(to - shapes.begin())] = true;
    }
    return result;
}

/// Noise is doubled until no shape decreases, first for shapes that do and then for all. Without
/// residuals the trend is left, which rises with all sizes.
Kriging monotone_kriging(KernelTableId id, std::span<const double> residual, double multiprocessors,
                         const std::vector<std::vector<double>>& shapes, KernelFit& fit) {
    constexpr int kMostDoublings = 40, kLocalDoublings = 12;
    std::vector<double> least_noise;
    for (const FittedKernel& kernel : fit.fitted) least_noise.push_back(measured_variance(kernel));
    Kriging kriging = best_kriging(fit.table.at, residual, least_noise);
    for (; fit.noise_doublings < kMostDoublings; ++fit.noise_doublings) {
        fit.table.length = kriging.length;
        fit.table.weight = kriging.weight;
        const auto decreases = check_monotone(id, fit.table, shapes, multiprocessors);
        if (decreases.empty()) break;
        const std::vector<bool> part = takes_part(shapes, decreases);
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (part[i] || fit.noise_doublings >= kLocalDoublings) kriging.noise[i] *= 2;
        }
        kriging = krige(fit.table.at, residual, kriging.noise, kriging.length);
    }
    return kriging;
}

/// Fills the residuals of fit.table and their errors, from its trend.
void fit_residuals(KernelTableId id, const Model& model, double multiprocessors, KernelFit& fit) {
    std::vector<std::vector<double>> shapes;
    std::vector<double> residual, us, left_out_us;
    for (const FittedKernel& kernel : fit.fitted) {
        shapes.push_back(kernel.shape);
        us.push_back(kernel.us);
        residual.push_back(std::log(kernel.us / model.us(fit.table, kernel.shape)));
    }
    const Kriging kriging = monotone_kriging(id, residual, multiprocessors, shapes, fit);
    for (std::size_t i = 0; i < us.size(); ++i)
        left_out_us.push_back(us[i] * std::exp(-kriging.left_out_error[i]));
    fit.leave_one_out = fit_error(left_out_us, us);
}

void measure_held_out(KernelTableId id, const Model& model,
                      const std::vector<FittedKernel>& held_out, KernelFit& fit) {
    std::vector<double> predicted, us;
    double worst = -1;
    for (const FittedKernel& kernel : held_out) {
        predicted.push_back(model.us(fit.table, kernel.shape));
        us.push_back(kernel.us);
        const double error = std::abs(predicted.back() / kernel.us - 1);
        if (error <= worst) continue;
        worst = error;
        fit.worst_shape = fmt::format("{}: predicted {:.1f} us, measured {:.1f} us",
                                      shape_text(id, kernel.shape), predicted.back(), kernel.us);
    }
    fit.held_out = fit_error(predicted, us);
}

}  // namespace

KernelFit fit_kernel_table(KernelTableId id, const CaseTable& measured, double multiprocessors) {
    const Rows rows = split_rows(id, measured);
    const Model model(id, multiprocessors);
    KernelFit fit;
    fit.fitted = rows.fitted;
    fit.table.trend = fit_trend(id, model, fit.fitted);
    for (const FittedKernel& kernel : fit.fitted)
        fit.table.at.push_back(model.coordinates(kernel.shape));
    fit.table.weight.assign(fit.fitted.size(), 0);
    if (fit.fitted.size() >= kFewShapes) fit_residuals(id, model, multiprocessors, fit);
    measure_held_out(id, model, rows.held_out, fit);
    return fit;
}

std::vector<Decrease> check_monotone(KernelTableId id, const KernelTable& table,
                                     const std::vector<std::vector<double>>& shapes,
                                     double multiprocessors) {
    const std::vector<std::string>& columns = kernel_columns(id);
    const Model model(id, multiprocessors);
    std::vector<Decrease> decreases;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const double us = model.us(table, shapes[i]);
        for (std::size_t size = 0; size < columns.size(); ++size) {
            if (!can_double(columns, shapes[i], size)) continue;
            std::vector<double> to = shapes[i];
            to[size] *= 2;
            const double doubled_us = model.us(table, to);
            if (doubled_us < us * (1 - kNoise))
                decreases.push_back({i, columns[size], to, us, doubled_us});
        }
    }
    return decreases;
}

}  // namespace sluice
