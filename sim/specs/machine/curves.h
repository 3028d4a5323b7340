// Measured curves as functions: the rate at a size that was not measured, and the rate of each lane
// under contention.
#pragma once

#include <utility>
#include <vector>

namespace sluice {

/// A function given by points: linear between them in log(x), constant outside.
class Interpolated {
  public:
    Interpolated() = default;
    explicit Interpolated(std::vector<std::pair<double, double>> points)
        : points_(std::move(points)) {}
    double at(double x) const;  ///< precondition: not empty()
    /// The same function with all values multiplied by `factor`.
    Interpolated scaled(double factor) const;
    bool empty() const { return points_.empty(); }
    const std::vector<std::pair<double, double>>& points() const { return points_; }

  private:
    std::vector<std::pair<double, double>> points_;
};

// Contention for host memory and the link, as measured.

/// The active lanes. `work`: host memory traffic that the host work (the optimizer) has alone, in
/// bytes/s; 0: no host work runs.
struct ActiveLanes {
    bool compute = false, in = false, out = false;
    double work = 0;
};

/// Each lane's share of the rate that it has alone; 1 for lanes that are not active.
struct LaneShares {
    double compute = 1, in = 1, out = 1, work = 1;
};

/// A measurement: the shares while these lanes were active.
struct ContentionPoint {
    ActiveLanes active;
    LaneShares shares;
};

class Contention {
  public:
    Contention() = default;
    /// In any order; at most one point for the same lanes and work.
    explicit Contention(std::vector<ContentionPoint> points);
    bool empty() const { return points_.empty(); }
    const std::vector<ContentionPoint>& points() const { return points_; }

    /// Linear in work between the points of the same lanes, constant outside; 1 for a single lane
    /// without host work. If no point has compute together with the other lanes, compute keeps its
    /// own rate and does not slow them down.
    LaneShares shares(const ActiveLanes& active) const;

    /// The shares if contention cost less: small shares are multiplied by `factor`, and the losses
    /// of large shares are divided by it.
    Contention with_shares(double factor) const;

    /// The shares if host memory were `memory` times as fast, and copies alone `in` and `out`
    /// times. The time for which a byte waits for other lanes is divided by `memory`, whatever its
    /// own lane takes for it; and `memory` times as much work has the same effect. So shares stay
    /// the same if everything is faster by one factor. Shares of 1 and more are noise and stay.
    Contention with_faster(double memory, double in, double out) const;

  private:
    std::vector<ContentionPoint> points_;  ///< by lanes, then ascending work
};

}  // namespace sluice
