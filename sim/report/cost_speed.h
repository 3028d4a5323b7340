// Speed over cost: which machine is beaten by no other?
#pragma once

#include <string>
#include <vector>

#include "sim/report/chart_parts.h"

namespace sluice {

struct CostSpeedPoint {
    int id = 0;
    std::string name = {}, second = {};  ///< "h100-sxm-pcie5", "streamed": in one line or in two
    std::string tooltip = {};
    double usd = 0, tokens_per_s = 0;
    double low = 0, high = 0;  ///< tokens/s, 5 to 95%; 0: no band
    bool on_front = false;     ///< none is faster for as little
    bool must_be_named = false;
};

/// One plot.
struct CostSpeed {
    std::string cost;  ///< "$ an hour"
    std::vector<CostSpeedPoint> points;
};

/// Axes of all points and the ends of their bands.
Axis cost_axis(const CostSpeed& plot);
Axis speed_axis(const CostSpeed& plot);

/// The plots beside each other, each with its own axes. The front is joined by a line; names stand
/// where there is room, those of the front first. Without points there are no axes. Fills the
/// space.
Picture cost_speed_picture(std::string_view title, std::string_view subtitle,
                           const std::vector<CostSpeed>& plots,
                           const PictureSpace& space = {1060, 520});

}  // namespace sluice
