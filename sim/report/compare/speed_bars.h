// Bars of tokens/s with the band in which nine of ten steps should lie: of systems, of machines.
#pragma once

#include <string>
#include <vector>

#include "sim/report/colours.h"

namespace sluice {

struct SpeedBar {
    std::string name;
    double tokens_per_s = 0;
    double low = 0, high = 0;  ///< 5 to 95%
    std::string beside;        ///< behind the number
    std::string misfit;        ///< why it does not fit; empty: it does
    const char* fill = kOtherBar;
    std::string tooltip;
};

struct SpeedBarGroup {
    std::string heading;  ///< above the bars; empty: no line
    std::vector<SpeedBar> bars;
};

struct SpeedBars {
    std::string title, subtitle, note;
    std::vector<SpeedBarGroup> groups;
};

/// Precondition: a bar at least.
std::string speed_bars_svg(const SpeedBars& chart);

}  // namespace sluice
