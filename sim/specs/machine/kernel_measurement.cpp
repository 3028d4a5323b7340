#include "sim/specs/machine/kernel_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr double kLargestSize =
    1e8;  // limit for matrices and sequences, so that counts fit 64 bits
constexpr double kMostElements = 1e12;
constexpr double kLargestWeight = 100;
constexpr double kFarOff = 4;  // factor within which a table must reproduce its own measurements
constexpr double kShortest = 0.01, kLongest = 1e9;  // microseconds of one kernel
// A hundred times the best GPU of 2026; no machine is faster.
constexpr double kMostFlopsPerUs = 1e18 / kMega;
// A larger product may use a better kernel, but does not take half the time.
constexpr double kQuickerThanSmaller = 0.5;

std::string again(KernelTableId id) {
    return fmt::format("measure it again with: sluice-calibrate --only {} --out FILE",
                       kernel_table_case(id));
}

std::string shape_text(const KernelPoint& point) {
    return fmt::format("{:g}", fmt::join(point.row, " x "));
}

template <typename Refuse>
void check_sizes(KernelTableId id, const KernelPoint& point, const Refuse& refuse) {
    const bool gemm = is_gemm(id), matrix = !gemm && !is_attention(id);
    const std::size_t sizes = gemm ? point.row.size() - 1 : point.row.size();
    for (std::size_t i = 0; i < sizes; ++i) {
        const double size = point.row[i], most = matrix ? kMostElements : kLargestSize;
        if (!(size >= 1 && size <= most && size == std::floor(size)))
            refuse(fmt::format("has the size {:g}, expected a whole number from 1 to {:g}", size,
                               most));
    }
    if (matrix && point.row[0] * point.row[1] > kMostElements) {
        refuse(fmt::format("has {:g} elements, expected at most {:g}", point.row[0] * point.row[1],
                           kMostElements));
    }
    if (gemm && point.row.back() != 0 && point.row.back() != 1)
        refuse(fmt::format("has added {:g}, expected 0 or 1", point.row.back()));
}

void check_point(const JsonObject& object, KernelTableId id, const KernelPoint& point) {
    const auto refuse = [&](const std::string& what) {
        throw InputError(fmt::format("{}: {} {}; {}", object.where("points"), shape_text(point),
                                     what, again(id)));
    };
    check_sizes(id, point, refuse);
    if (!(std::abs(point.weight) <= kLargestWeight)) {
        refuse(fmt::format("has the weight {:g}, expected {:g} to {:g}", point.weight,
                           -kLargestWeight, kLargestWeight));
    }
    if (!(point.us >= kShortest && point.us <= kLongest)) {
        refuse(fmt::format("takes {:g} us, expected {:g} to {:g}", point.us, kShortest, kLongest));
    }
    if (!(point.us_low > 0 && point.us_low <= point.us && point.us <= point.us_high)) {
        refuse(fmt::format("takes {:g} us of {:g} to {:g}, expected low <= median <= high",
                           point.us, point.us_low, point.us_high));
    }
    const Flops flops = kernel_of_row(id, point.row).flops;
    if (flops > kMostFlopsPerUs * point.us) {
        refuse(fmt::format("takes {:g} us, which would be {:.3g} TFLOPS: no machine does that",
                           point.us, flops / point.us * kMega / kTera));
    }
}

/// Whether no size of `a` is smaller than that of `b`.
bool covers(const KernelPoint& a, const KernelPoint& b) {
    for (std::size_t i = 0; i < a.row.size(); ++i)
        if (a.row[i] < b.row[i]) return false;
    return true;
}

void check_monotone(const JsonObject& object, const KernelMeasurement& measured) {
    for (const KernelPoint& large : measured.points) {
        for (const KernelPoint& small : measured.points) {
            if (!covers(large, small) || large.us >= kQuickerThanSmaller * small.us) continue;
            throw InputError(
                fmt::format("{}: {} takes {:g} us, less than half of the {:g} us of "
                            "{}; {}",
                            object.where("points"), shape_text(large), large.us, small.us,
                            shape_text(small), again(measured.id)));
        }
    }
}

std::vector<KernelPoint> read_points(const JsonObject& object, KernelTableId id) {
    std::vector<std::string> expected = kernel_columns(id);
    const std::size_t sizes = expected.size();
    expected.insert(expected.end(), {"us", "us_low", "us_high", "weight"});
    if (object.texts("columns") != expected) {
        throw InputError(fmt::format("{} is [{}], expected [{}]; {}", object.where("columns"),
                                     fmt::join(object.texts("columns"), ", "),
                                     fmt::join(expected, ", "), again(id)));
    }
    std::vector<KernelPoint> points;
    for (const auto& row : object.rows("points", expected.size())) {
        KernelPoint point;
        point.row.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(sizes));
        point.us = row[sizes];
        point.us_low = row[sizes + 1];
        point.us_high = row[sizes + 2];
        point.weight = row[sizes + 3];
        check_point(object, id, point);
        points.push_back(std::move(point));
    }
    if (points.empty())
        throw InputError(fmt::format("{} is empty; {}", object.where("points"), again(id)));
    return points;
}

std::vector<double> read_trend(const JsonObject& object, KernelTableId id) {
    const JsonObject trend = object.object("trend");
    const std::vector<std::string>& names = kernel_feature_names(id);
    std::vector<double> out;
    double sum = 0;
    try {
        trend.allow_only(names);
        for (const std::string& name : names) {
            out.push_back(trend.number(name, 0, kLongest));
            sum += out.back();
        }
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}; {}", error.what(), again(id)));
    }
    if (sum > 0) return out;
    throw InputError(fmt::format("{} is all zeros, so that kernels would take no time; {}",
                                 object.where("trend"), again(id)));
}

HeldOutError read_held_out(const JsonObject& object) {
    constexpr double kMost = 1e6;  // percent
    const JsonObject held_out = object.object("held_out");
    held_out.allow_only(
        {"shapes", "mean_error_percent", "worst_error_percent", "low_percent", "high_percent"});
    HeldOutError error;
    error.shapes = static_cast<int>(held_out.integer("shapes", 0, 1'000'000));
    error.mean_percent = held_out.number("mean_error_percent", 0, kMost);
    error.worst_percent = held_out.number("worst_error_percent", 0, kMost);
    error.low_percent = held_out.number("low_percent", -kMost, kMost);
    error.high_percent = held_out.number("high_percent", -kMost, kMost);
    if (error.low_percent <= error.high_percent) return error;
    throw InputError(fmt::format("{} is {:g}, expected at most high_percent, {:g}",
                                 held_out.where("low_percent"), error.low_percent,
                                 error.high_percent));
}

}  // namespace

KernelTable KernelMeasurement::table() const {
    KernelTable table;
    table.trend = trend;
    table.length = length_doublings;
    for (const KernelPoint& point : points) {
        table.at.push_back(kernel_coordinates(id, kernel_of_row(id, point.row)));
        table.weight.push_back(point.weight);
    }
    return table;
}

KernelMeasurement read_kernel_measurement(const JsonObject& object, KernelTableId id) {
    object.allow_only({"columns", "points", "trend", "length_doublings", "held_out", "method",
                       "source", "date", "note"});
    KernelMeasurement measured;
    measured.id = id;
    measured.points = read_points(object, id);
    measured.trend = read_trend(object, id);
    measured.length_doublings = object.number("length_doublings", 1e-3, 1e3);
    measured.held_out = read_held_out(object);
    check_monotone(object, measured);
    return measured;
}

void check_predictions(const KernelMeasurement& measured, double multiprocessors,
                       const std::string& where) {
    const KernelTable table = measured.table();
    for (std::size_t i = 0; i < measured.points.size(); ++i) {
        const KernelPoint& point = measured.points[i];
        const Kernel kernel = kernel_of_row(measured.id, point.row);
        const double us =
            kMega * table.time(kernel_features(measured.id, kernel, multiprocessors), table.at[i]);
        if (us <= kFarOff * point.us && point.us <= kFarOff * us) continue;
        throw InputError(
            fmt::format("{}: {} took {:g} us, which trend and weights predict as "
                        "{:.4g} us; {}",
                        where, shape_text(point), point.us, us, again(measured.id)));
    }
}

}  // namespace sluice
