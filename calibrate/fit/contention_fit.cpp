#include "calibrate/fit/contention_fit.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "calibrate/fit/regression.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

constexpr std::array<double LaneShares::*, kLanes> kShares = {&LaneShares::compute, &LaneShares::in,
                                                              &LaneShares::out, &LaneShares::work};

// Windows of nearly the same work are one: they repeat, or differ in the state's precision.
constexpr double kSameWork = 0.03;
// A knot is left out if the line between the others is this near to it.
constexpr double kKnotTolerance = 0.005;

using Curve = std::vector<ContentionPoint>;  // of one set of lanes, ascending work
using Lanes = std::tuple<bool, bool, bool>;  // compute, in, out
using Curves = std::map<Lanes, Curve>;

double work_of(const LoadWindow& window, double gparams_per_s) {
    return window.runs[kWork] ? gparams_per_s * kGiga * adam_bytes_per_parameter(window.state_bytes)
                              : 0;
}

ContentionPoint measured_point(const LoadWindows& windows, const LoadWindow& window) {
    const double work = window.runs[kWork] ? work_of(window, windows.alone(window, kWork)) : 0;
    ContentionPoint point{{window.runs[kCompute], window.runs[kIn], window.runs[kOut], work}, {}};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (!window.runs[lane]) continue;
        // No lane gets faster under contention: above 1 is drift.
        point.shares.*kShares[lane] =
            std::min(1.0, window.rate[lane] / windows.alone(window, lane));
    }
    return point;
}

bool by_work(const ContentionPoint& a, const ContentionPoint& b) {
    return a.active.work < b.active.work;
}

/// The windows to fit, by the lanes that run with the optimizer. A single lane without it has its
/// full rate.
Curves measured_curves(const LoadWindows& windows) {
    Curves curves;
    for (const LoadWindow& window : windows.all()) {
        if (window.held_out || window.lanes() < 2) continue;
        const Lanes lanes{window.runs[kCompute], window.runs[kIn], window.runs[kOut]};
        Curve& curve = curves[lanes];
        if (curve.empty() && window.runs[kWork] && window.lanes() == 2)
            curve.push_back({{window.runs[kCompute], window.runs[kIn], window.runs[kOut], 0}, {}});
        curve.push_back(measured_point(windows, window));
    }
    for (auto& [lanes, curve] : curves) std::stable_sort(curve.begin(), curve.end(), by_work);
    return curves;
}

ContentionPoint mean_point(Curve::const_iterator begin, Curve::const_iterator end) {
    ContentionPoint mean = *begin;
    const auto count = static_cast<double>(end - begin);
    const auto average = [&](auto value) {
        double sum = 0;
        for (auto point = begin; point != end; ++point) sum += value(*point);
        return sum / count;
    };
    mean.active.work = average([](const ContentionPoint& point) { return point.active.work; });
    for (const auto share : kShares)
        mean.shares.*share =
            average([=](const ContentionPoint& point) { return point.shares.*share; });
    return mean;
}

Curve merged(const Curve& curve) {
    Curve result;
    for (auto begin = curve.begin(); begin != curve.end();) {
        const double limit = begin->active.work * (1 + kSameWork);
        const auto end = std::find_if(begin, curve.end(),
                                      [=](const auto& point) { return point.active.work > limit; });
        result.push_back(mean_point(begin, end));
        begin = end;
    }
    return result;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

std::vector<double> smooth_shares(std::size_t lane, const std::vector<double>& measured) {
    const std::vector<double> weights(measured.size(), 1);
    const std::vector<double> falling = isotonic(measured, weights, Monotone::decreasing);
    if (lane == kCompute || lane == kIn) return falling;
    const std::vector<double> rising = isotonic(measured, weights, Monotone::increasing);
    return squared_distance(falling, measured) <= squared_distance(rising, measured) ? falling
                                                                                     : rising;
}

/// Precondition: merged. Without work, its share is the one of the least work measured.
void smooth(Curve& curve) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto share = kShares[lane];
        const bool idle_first = lane == kWork && curve.front().active.work == 0;
        const auto begin = curve.begin() + (idle_first && curve.size() > 1 ? 1 : 0);
        std::vector<double> measured;
        for (auto point = begin; point != curve.end(); ++point)
            measured.push_back(point->shares.*share);
        const std::vector<double> smoothed = smooth_shares(lane, measured);
        for (auto point = begin; point != curve.end(); ++point)
            point->shares.*share = smoothed[static_cast<std::size_t>(point - begin)];
        curve.front().shares.*share = smoothed.front();
    }
}

/// The largest distance of a share between the line from `left` to `right` and a point between
/// them.
double miss(const ContentionPoint& left, const ContentionPoint& right,
            const ContentionPoint& point) {
    const double t =
        (point.active.work - left.active.work) / (right.active.work - left.active.work);
    double worst = 0;
    for (const auto share : kShares) {
        const double line = left.shares.*share + t * (right.shares.*share - left.shares.*share);
        worst = std::max(worst, std::abs(line - point.shares.*share));
    }
    return worst;
}

/// The points between two knots that the line needs: the farthest one, if it exceeds the tolerance,
/// and those needed on both sides of it (Ramer, Douglas and Peucker).
void add_knots(const Curve& curve, std::size_t left, std::size_t right, Curve& knots) {
    double most = kKnotTolerance;
    std::size_t middle = left;
    for (std::size_t i = left + 1; i < right; ++i) {
        const double missed = miss(curve[left], curve[right], curve[i]);
        if (missed <= most) continue;
        most = missed;
        middle = i;
    }
    if (middle == left) return;
    add_knots(curve, left, middle, knots);
    knots.push_back(curve[middle]);
    add_knots(curve, middle, right, knots);
}

Curve few_knots(const Curve& curve) {
    if (curve.size() < 3) return curve;
    Curve knots = {curve.front()};
    add_knots(curve, 0, curve.size() - 1, knots);
    knots.push_back(curve.back());
    return knots;
}

/// The curve without compute, each lane times the mean factor between `with` and it where `with`
/// was measured; compute as in `with`.
Curve with_compute(const Curve& without, const Curve& with) {
    const Contention plain(without), measured(with);
    LaneShares factor{0, 0, 0, 0};
    int working = 0;
    for (const ContentionPoint& point : with) {
        const LaneShares base =
            plain.shares({false, point.active.in, point.active.out, point.active.work});
        factor.in += point.shares.in / base.in / static_cast<double>(with.size());
        factor.out += point.shares.out / base.out / static_cast<double>(with.size());
        if (point.active.work == 0) continue;
        factor.work += point.shares.work / base.work;
        ++working;
    }
    factor.work = working == 0 ? 1 : factor.work / working;
    Curve result = without;
    for (ContentionPoint& point : result) {
        point.active.compute = true;
        point.shares.compute = measured.shares(point.active).compute;
        point.shares.in = std::min(1.0, point.shares.in * factor.in);
        point.shares.out = std::min(1.0, point.shares.out * factor.out);
        point.shares.work = std::min(1.0, point.shares.work * factor.work);
    }
    return result;
}

auto points_with_work(const Curve& curve) {
    return std::count_if(curve.begin(), curve.end(),
                         [](const ContentionPoint& point) { return point.active.work > 0; });
}

std::vector<ContentionPoint> fit_points(const LoadWindows& windows) {
    Curves curves = measured_curves(windows);
    for (auto& [lanes, curve] : curves) {
        curve = merged(curve);
        smooth(curve);
    }
    std::vector<ContentionPoint> points;
    for (const auto& [lanes, curve] : curves) {
        const auto& [compute, in, out] = lanes;
        const auto without = curves.find({false, in, out});
        const bool is_sparse = compute && without != curves.end() &&
                               points_with_work(without->second) > points_with_work(curve);
        const Curve knots = few_knots(is_sparse ? with_compute(without->second, curve) : curve);
        points.insert(points.end(), knots.begin(), knots.end());
    }
    return points;
}

std::string window_text(const LoadWindow& window) {
    std::string text;
    if (window.runs[kWork])
        text += fmt::format("Adam ({:g} bytes of state, {:g} threads), ", window.state_bytes,
                            window.threads);
    for (const auto& [lane, name] :
         {std::pair(kIn, "copies in, "), {kOut, "copies out, "}, {kCompute, "compute, "}}) {
        if (window.runs[lane]) text += name;
    }
    return text.substr(0, text.size() - 2);
}

/// Compares predicted and measured rates of each lane in held-out windows.
void measure_held_out(const LoadWindows& windows, ContentionFit& fit) {
    const Contention contention(fit.points);
    std::array<std::vector<double>, kLanes> predicted, measured;
    double worst = -1;
    for (const LoadWindow& window : windows.all()) {
        if (!window.held_out || window.lanes() < 2) continue;
        const double adam = window.runs[kWork] ? windows.alone_adam_by_threads(window) : 0;
        const LaneShares shares = contention.shares(
            {window.runs[kCompute], window.runs[kIn], window.runs[kOut], work_of(window, adam)});
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            if (!window.runs[lane]) continue;
            const double alone = lane == kWork ? adam : windows.alone(window, lane);
            predicted[lane].push_back(alone * shares.*kShares[lane]);
            measured[lane].push_back(window.rate[lane]);
            const double error = std::abs(predicted[lane].back() / window.rate[lane] - 1);
            if (error <= worst) continue;
            worst = error;
            fit.worst_window =
                fmt::format("{}: {} predicted {:.3g}, measured {:.3g}", window_text(window),
                            kRates[lane], predicted[lane].back(), window.rate[lane]);
        }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        fit.errors[lane] = fit_error(predicted[lane], measured[lane]);
}

}  // namespace

double adam_bytes_per_parameter(double state_bytes) { return 2 + 2 * state_bytes; }

ContentionFit fit_contention(const CaseTable& windows) {
    const LoadWindows load(windows);
    ContentionFit fit;
    fit.points = fit_points(load);
    measure_held_out(load, fit);
    return fit;
}

}  // namespace sluice
