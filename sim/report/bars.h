// Horizontal bars with the band in which nine of ten values should lie: tokens/s of systems,
// machines and scenarios, gains of upgrades, errors of predictions.
#pragma once

#include <string>
#include <vector>

#include "sim/report/picture.h"

namespace sluice {

struct Bar {
    std::string name;
    double value = 0;
    double low = 0, high = 0;  ///< ends of the band; the same: none
    std::string label;         ///< behind the bar
    std::string misfit;        ///< why it does not fit, in place of band and label; empty: it does
    Paint colour = paint(Role::other);
    std::string tooltip;
};

struct BarGroup {
    std::string heading;  ///< above the bars; empty: no line
    std::vector<Bar> bars;
};

struct BarChart {
    std::string title, subtitle, note;
    std::vector<BarGroup> groups;
    bool percent = false;        ///< values are shares: 0.1 is a tenth
    std::vector<double> limits;  ///< dashed lines
};

/// The id of a bar is its place in the chart. As high as the bars need.
Picture bars_picture(const BarChart& chart, const PictureSpace& space = {});

}  // namespace sluice
