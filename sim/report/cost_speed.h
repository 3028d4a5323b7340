// Which machines does no other beat in cost and speed? A picture of speed over cost.
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
    bool on_front = false;     ///< no other is faster at the same cost or less
    bool must_be_named = false;
};

struct CostSpeed {
    std::string cost;  ///< "$ an hour"
    std::vector<CostSpeedPoint> points;
};

Axis cost_axis(const CostSpeed& plot);
Axis speed_axis(const CostSpeed& plot);

/// The plots side by side, each with its own axes. A line joins the front; names are drawn where
/// there is room, first those of the front. No axes without points. Fills the space.
Picture cost_speed_picture(std::string_view title, std::string_view subtitle,
                           const std::vector<CostSpeed>& plots,
                           const PictureSpace& space = {1060, 520});

}  // namespace sluice
