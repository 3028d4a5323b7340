// Where does a value lie on a logarithmic axis, and which values are marked on it?
#pragma once

#include <vector>

namespace sluice {

/// From the smallest to the largest value, with some room beyond both. Values are above 0.
class LogAxis {
  public:
    /// Precondition: `values` is not empty.
    explicit LogAxis(const std::vector<double>& values);
    double low() const { return low_; }
    double high() const { return high_; }
    /// 0 at low(), 1 at high().
    double share(double value) const;
    /// Round numbers in [low, high], ascending; at least one.
    std::vector<double> ticks() const;

  private:
    double low_ = 1, high_ = 10;
};

}  // namespace sluice
