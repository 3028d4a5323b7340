#include "calibrate/profile/update_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/fit/least_squares.h"
#include "calibrate/profile/sections.h"
#include "sim/base/input_error.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

/// Microseconds; a profile's numbers are above 0.
constexpr double kLeast = 1e-3;

struct Calls {
    FeatureRows features;  ///< 1, parameters
    std::vector<double> us;
};

/// Microseconds at 0 parameters, low, high.
std::vector<double> cost_of(const Calls& calls) {
    const LinearFit fit = least_squares(calls.features, calls.us, relative_weights(calls.us));
    const auto at_least = [](double us) { return std::max(kLeast, us); };
    // With as many sizes as coefficients nothing is known of the range.
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
            "table adam_by_size: a call costs {:.0f} us beside its parameters with {:g} threads, "
            "but one of {:g} parameters takes {:.0f} us in all; measure it again: sluice-calibrate "
            "--only adam,mixed_load",
            cost * kMega, threads, usual_parameters, call * kMega));
    }
    return giga_parameters / (call - cost);
}

std::optional<UpdateCost> fit_update_cost(const Measurements& measurements) {
    const Table* table = find_rows(measurements, "adam_by_size");
    if (table == nullptr) return std::nullopt;
    std::map<double, Calls> by_threads;
    UpdateCost cost;
    cost.usual_parameters = table->at(0, "parameters");
    bool one_size = true;
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
        const double parameters = table->at(row, "parameters");
        one_size = one_size && parameters == cost.usual_parameters;
        cost.usual_parameters = std::min(cost.usual_parameters, parameters);
        Calls& calls = by_threads[table->at(row, "threads")];
        calls.features.push_back({1, parameters});
        calls.us.push_back(table->at(row, "us"));
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
