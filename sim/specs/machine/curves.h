// Measured curves as functions: what is the rate at a size that was not measured, and how fast is
// each lane while others run?
#pragma once

#include <utility>
#include <vector>

namespace sluice {

/// A function given by points; linear between them in log(x), constant outside.
class Interpolated {
  public:
    Interpolated() = default;
    explicit Interpolated(std::vector<std::pair<double, double>> points)
        : points_(std::move(points)) {}
    double at(double x) const;  ///< precondition: not empty()
    /// With all values `factor` times as high.
    Interpolated scaled(double factor) const;
    bool empty() const { return points_.empty(); }
    const std::vector<std::pair<double, double>>& points() const { return points_; }

  private:
    std::vector<std::pair<double, double>> points_;
};

// Host memory and the link are shared, as measured.

/// Which lanes are at work. `work`: bytes/s of host memory traffic that host work (the optimizer)
/// has alone; 0: none runs.
struct ActiveLanes {
    bool compute = false, in = false, out = false;
    double work = 0;
};

/// Shares of the rate that each lane has alone; 1 for lanes that are not at work.
struct LaneShares {
    double compute = 1, in = 1, out = 1, work = 1;
};

/// A measurement: the shares while these ran.
struct ContentionPoint {
    ActiveLanes active;
    LaneShares shares;
};

class Contention {
  public:
    Contention() = default;
    /// Any order; at most one point for the same lanes and work.
    explicit Contention(std::vector<ContentionPoint> points);
    bool empty() const { return points_.empty(); }
    const std::vector<ContentionPoint>& points() const { return points_; }

    /// Linear in work between the points of the same lanes, constant outside; without work and one
    /// lane only, 1. Where no point has compute beside the others, compute changes nothing for them
    /// and keeps its own rate.
    LaneShares shares(const ActiveLanes& active) const;

    /// What if lanes kept more beside each other: one that keeps little gets `factor` times as
    /// much, one that loses little loses 1 / factor as much.
    Contention with_shares(double factor) const;

    /// What if host memory were `memory` times as fast, copies alone `in` and `out` times? What a
    /// byte waits for the others takes 1 / memory as long, however long its own lane takes for it;
    /// and `memory` times as much work has the same effect. So a lane keeps its share where all
    /// are faster alike. Shares from 1 on are noise and stay.
    Contention with_faster(double memory, double in, double out) const;

  private:
    std::vector<ContentionPoint> points_;  ///< by lanes, then ascending work
};

}  // namespace sluice
