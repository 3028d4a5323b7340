// Where does a value lie between the least and the largest, and which are marked?
#pragma once

#include <vector>

namespace sluice {

/// From the least to the largest value; logarithmic where that is more than tenfold.
class ValueScale {
  public:
    /// Values of all cells; may be empty.
    explicit ValueScale(const std::vector<double>& values);
    bool empty() const { return empty_; }
    bool logarithmic() const { return logarithmic_; }
    double low() const { return low_; }
    double high() const { return high_; }
    /// 0 at low(), 1 at high(); 0.5 where they are the same.
    double share(double value) const;
    /// Round numbers from low() to high(), ascending; low() and high() where none is between.
    std::vector<double> ticks() const;

  private:
    double low_ = 0, high_ = 0;
    bool logarithmic_ = false, empty_ = true;
};

}  // namespace sluice
