#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "calibrate/fit/regression.h"
#include "calibrate/profile/make_profile.h"
#include "calibrate/profile/sections.h"
#include "sim/base/input_error.h"
#include "sim/base/units.h"

namespace sluice {

namespace {

constexpr std::array kGemmTables = {KernelTableId::gemm_forward, KernelTableId::gemm_input_gradient,
                                    KernelTableId::gemm_weight_gradient};

/// A profile's numbers are above 0, so an overhead below a nanosecond counts as none.
constexpr double kLeastOverhead = 1e-3;

/// Times of calls, to be fitted by a constant and their amount of work.
struct Calls {
    FeatureRows features;  ///< 1, GFLOP or parameters
    std::vector<double> us;
};

Calls products_of(const Measurements& measurements) {
    Calls products;
    for (const KernelTableId id : kGemmTables) {
        const MeasuredRows rows(measurements, kernel_table_name(id));
        for (std::size_t row = 0; rows && row < rows.size(); ++row) {
            if (rows.at(row, "held_out") != 0) continue;
            const Flops flops = 2 * rows.at(row, "m") * rows.at(row, "n") * rows.at(row, "k");
            products.features.push_back({1, flops / kGiga});
            products.us.push_back(rows.at(row, "us"));
        }
    }
    return products;
}

/// TFLOPS, given microseconds per GFLOP.
double tflops(double us_per_gflop) { return kGiga / us_per_gflop * kMega / kTera; }

/// Without a constant, if it would be negative.
LinearFit fit_line(const Calls& products) {
    const std::vector<double> weights = relative_weights(products.us);
    LinearFit fit = least_squares(products.features, products.us, weights);
    if (fit.coefficient[0] >= kLeastOverhead) return fit;
    FeatureRows slope;
    for (const std::vector<double>& row : products.features) slope.push_back({row[1]});
    fit = least_squares(slope, products.us, weights);
    for (auto* values : {&fit.coefficient, &fit.low, &fit.high})
        values->insert(values->begin(), kLeastOverhead);
    return fit;
}

}  // namespace

std::optional<GemmLine> fit_gemm_line(const Measurements& measurements) {
    const Calls products = products_of(measurements);
    constexpr std::size_t kFewest = 3;
    if (products.us.size() < kFewest) return std::nullopt;
    const LinearFit fit = fit_line(products);
    GemmLine line;
    line.products = static_cast<int>(products.us.size());
    line.overhead_us = fit.coefficient[0];
    line.overhead_low = std::max(kLeastOverhead, fit.low[0]);
    line.overhead_high = fit.high[0];
    line.tflops = tflops(fit.coefficient[1]);
    line.tflops_low = tflops(fit.high[1]);
    // A slope that may be 0 has no fastest rate.
    line.tflops_high = fit.low[1] > 0 ? tflops(fit.low[1]) : line.tflops;
    for (std::size_t i = 0; i < products.us.size(); ++i) {
        const double predicted = fit.coefficient[0] + fit.coefficient[1] * products.features[i][1];
        const double error = 100 * std::abs(predicted / products.us[i] - 1);
        line.mean_error_percent += error / line.products;
        line.worst_error_percent = std::max(line.worst_error_percent, error);
    }
    return line;
}

namespace {

/// State sizes whose optimizer ran in windows that are to be fitted.
std::set<int> fitted_states(const CaseTable& mixed) {
    std::set<int> states;
    for (std::size_t row = 0; row < mixed.rows.size(); ++row) {
        if (mixed.at(row, "held_out") == 0 && mixed.at(row, "threads") != 0)
            states.insert(static_cast<int>(mixed.at(row, "state_bytes")));
    }
    return states;
}

/// The windows of that state, and those of kernels and copies without an optimizer, which apply to
/// all states. With 12 bytes also those of states that are not fitted, which it predicts.
CaseTable windows_of(const CaseTable& mixed, int state_bytes, const std::set<int>& fitted) {
    CaseTable out = mixed;
    out.rows.clear();
    for (std::size_t row = 0; row < mixed.rows.size(); ++row) {
        const auto own = static_cast<int>(mixed.at(row, "state_bytes"));
        const bool same = own == state_bytes || (state_bytes == 12 && !fitted.contains(own));
        const bool only_compute = mixed.at(row, "compute") != 0 && mixed.at(row, "threads") == 0;
        if (same || only_compute) out.rows.push_back(mixed.rows[row]);
    }
    return out;
}

}  // namespace

MachineFits fit_machine(const Measurements& measurements) {
    MachineFits fits;
    const double multiprocessors = std::max(1.0, measurements.facts.multiprocessors);
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        const CaseTable* table = measurements.find(kernel_table_name(id));
        if (table == nullptr || table->rows.empty()) continue;
        fits.kernels.emplace_back(id, fit_kernel_table(id, *table, multiprocessors));
    }
    fits.gemm_line = fit_gemm_line(measurements);
    const CaseTable* mixed = measurements.find("mixed_load");
    if (mixed != nullptr && !mixed->rows.empty()) {
        const std::set<int> fitted = fitted_states(*mixed);
        for (const int state_bytes : fitted)
            fits.contention[state_bytes] = fit_contention(windows_of(*mixed, state_bytes, fitted));
    }
    return fits;
}

namespace {

/// Microseconds; a profile's numbers are above 0.
constexpr double kLeast = 1e-3;

/// Microseconds at 0 parameters, low, high.
std::vector<double> cost_of(const Calls& calls) {
    const LinearFit fit = least_squares(calls.features, calls.us, relative_weights(calls.us));
    const auto at_least = [](double us) { return std::max(kLeast, us); };
    // With as many sizes as coefficients the range is not known.
    const bool known = fit.degrees_of_freedom > 0;
    return {at_least(fit.coefficient[0]), at_least(known ? fit.low[0] : fit.coefficient[0]),
            at_least(known ? fit.high[0] : fit.coefficient[0])};
}

}  // namespace

double UpdateCost::long_rate(double threads, double usual_rate) const {
    const double giga_parameters = usual_parameters / kGiga;
    const Seconds call = giga_parameters / usual_rate;
    const Seconds cost = us_by_threads.at(threads) / kMega;
    if (cost >= call) {
        throw InputError(fmt::format(
            "table adam_by_size: the fixed cost of a call is {:.0f} us with {:g} threads, "
            "but one of {:g} parameters takes {:.0f} us in all; measure it again: sluice-calibrate "
            "--only adam,mixed_load",
            cost * kMega, threads, usual_parameters, call * kMega));
    }
    return giga_parameters / (call - cost);
}

std::optional<UpdateCost> fit_update_cost(const Measurements& measurements) {
    const MeasuredRows rows(measurements, "adam_by_size");
    if (!rows) return std::nullopt;
    std::map<double, Calls> by_threads;
    UpdateCost cost;
    cost.usual_parameters = rows.at(0, "parameters");
    bool one_size = true;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const double parameters = rows.at(row, "parameters");
        one_size = one_size && parameters == cost.usual_parameters;
        cost.usual_parameters = std::min(cost.usual_parameters, parameters);
        Calls& calls = by_threads[rows.at(row, "threads")];
        calls.features.push_back({1, parameters});
        calls.us.push_back(rows.at(row, "us"));
    }
    if (one_size) return std::nullopt;
    std::vector<std::pair<double, double>> curve;
    for (const auto& [threads, calls] : by_threads) {
        std::vector<double> point = cost_of(calls);
        curve.emplace_back(threads, point.front());
        point.insert(point.begin(), threads);
        cost.points.push_back(std::move(point));
    }
    cost.us_by_threads = Interpolated(std::move(curve));
    return cost;
}

}  // namespace sluice
