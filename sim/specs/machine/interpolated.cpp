#include "sim/specs/machine/interpolated.h"

#include <algorithm>
#include <cmath>

namespace sluice {

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

}  // namespace sluice
