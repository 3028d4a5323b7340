#include "sim/specs/machine/curves.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

int lanes_of(const ActiveLanes& active) {
    return (active.compute ? 4 : 0) + (active.in ? 2 : 0) + (active.out ? 1 : 0);
}

/// No lane or one lane is active, without host work.
bool is_undisturbed(const ActiveLanes& active) {
    return int{active.compute} + int{active.in} + int{active.out} + int{active.work > 0} <= 1;
}

LaneShares between(const ContentionPoint& a, const ContentionPoint& b, double work) {
    const double t = (work - a.active.work) / (b.active.work - a.active.work);
    const auto mix = [t](double from, double to) { return from + t * (to - from); };
    return {mix(a.shares.compute, b.shares.compute), mix(a.shares.in, b.shares.in),
            mix(a.shares.out, b.shares.out), mix(a.shares.work, b.shares.work)};
}

}  // namespace

double Interpolated::at(double x) const {
    if (x <= points_.front().first) return points_.front().second;
    if (x >= points_.back().first) return points_.back().second;
    const auto above =
        std::upper_bound(points_.begin(), points_.end(), x,
                         [](double value, const auto& point) { return value < point.first; });
    const auto& [x1, y1] = *above;
    const auto& [x0, y0] = *(above - 1);
    const double share = (std::log(x) - std::log(x0)) / (std::log(x1) - std::log(x0));
    return y0 + share * (y1 - y0);
}

Interpolated Interpolated::scaled(double factor) const {
    auto points = points_;
    for (auto& [x, value] : points) value *= factor;
    return Interpolated(std::move(points));
}

Contention::Contention(std::vector<ContentionPoint> points) : points_(std::move(points)) {
    std::sort(points_.begin(), points_.end(), [](const auto& a, const auto& b) {
        return std::pair(lanes_of(a.active), a.active.work) <
               std::pair(lanes_of(b.active), b.active.work);
    });
}

LaneShares Contention::shares(const ActiveLanes& active) const {
    if (points_.empty() || is_undisturbed(active)) return {};
    const auto same_lanes = [lanes = lanes_of(active)](const ContentionPoint& point) {
        return lanes_of(point.active) == lanes;
    };
    const auto first = std::find_if(points_.begin(), points_.end(), same_lanes);
    if (first == points_.end()) {
        if (!active.compute) return {};
        LaneShares others = shares({false, active.in, active.out, active.work});
        others.compute = 1;
        return others;
    }
    const auto end = std::find_if_not(first, points_.end(), same_lanes);
    const auto above = std::find_if(
        first, end, [&](const ContentionPoint& point) { return point.active.work >= active.work; });
    if (above == end) return (end - 1)->shares;
    if (above == first || above->active.work == active.work) return above->shares;
    return between(*(above - 1), *above, active.work);
}

Contention Contention::with_shares(double factor) const {
    std::vector<ContentionPoint> points = points_;
    for (auto& [active, shares] : points) {
        for (double* share : {&shares.compute, &shares.in, &shares.out, &shares.work})
            *share /= *share + (1 - *share) / factor;
    }
    return Contention(std::move(points));
}

Contention Contention::with_faster(double memory, double in, double out) const {
    std::vector<ContentionPoint> points = points_;
    for (auto& [active, shares] : points) {
        active.work *= memory;
        const std::pair<double*, double> own[] = {
            {&shares.compute, 1}, {&shares.in, in}, {&shares.out, out}, {&shares.work, 1}};
        for (const auto& [share, faster] : own)
            if (*share < 1) *share /= *share + (1 - *share) * faster / memory;
    }
    return Contention(std::move(points));
}

}  // namespace sluice
