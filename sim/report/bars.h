// How does a bar chart look? Horizontal bars with a 5 to 95% band, for speeds, gains, errors and
// memory.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/report/chart_parts.h"

namespace sluice {

struct BarPart {
    double value = 0;
    Paint colour;
    std::string tooltip;
};

struct Bar {
    std::string name;
    double value = 0;
    double low = 0, high = 0;  ///< ends of the band; equal: no band
    std::string label;         ///< after the bar
    std::string misfit;        ///< why it does not fit, in place of band and label; empty: it fits
    Paint colour = paint(Role::other);
    std::string tooltip;
    std::vector<BarPart> parts = {};  ///< drawn end to end in place of the bar
    double most = 0;                  ///< a thick line at the largest possible value; 0: none
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
    bool own_axes = false;       ///< each group has its own axis
    std::vector<LegendEntry> legend = {};
};

/// The id of a bar is its index in the chart. The picture is as high as the bars need.
Picture bars_picture(const BarChart& chart, const PictureSpace& space = {});

struct MemoryBar {
    std::string name;
    Fit fit;
    bool unified = false;  ///< host and device are one pool, shown once among the hosts
};

/// Two groups of bars, device and host. Each bar's kinds add up to its peak; a line marks the
/// available memory. Precondition: at least one bar.
Picture memory_bars_picture(const std::vector<MemoryBar>& bars, const PictureSpace& space = {});

}  // namespace sluice
