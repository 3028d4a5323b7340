// A measured curve as a function: what is the rate at a size that was not measured?
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
    bool empty() const { return points_.empty(); }
    const std::vector<std::pair<double, double>>& points() const { return points_; }

  private:
    std::vector<std::pair<double, double>> points_;
};

}  // namespace sluice
