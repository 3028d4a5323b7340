// Horizontal bars with the band in which nine of ten values should lie: tokens/s of systems,
// machines and scenarios, gains of upgrades, errors of predictions, memory by kind.
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
    double low = 0, high = 0;  ///< ends of the band; the same: none
    std::string label;         ///< behind the bar
    std::string misfit;        ///< why it does not fit, in place of band and label; empty: it does
    Paint colour = paint(Role::other);
    std::string tooltip;
    std::vector<BarPart> parts = {};  ///< one after the other, in place of the bar
    double most = 0;                  ///< a thick line: as large as the value can be; 0: none
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
    bool own_axes = false;       ///< each group has an axis of its own
    std::vector<LegendEntry> legend = {};
};

/// The id of a bar is its place in the chart. As high as the bars need.
Picture bars_picture(const BarChart& chart, const PictureSpace& space = {});

struct MemoryBar {
    std::string name;
    Fit fit;
    bool unified = false;  ///< host and device are one pool: shown once, beside the hosts
};

/// Two groups of bars, device and host; each bar's kinds add up to its peak, a line marks what
/// there is. Precondition: a bar at least.
Picture memory_bars_picture(const std::vector<MemoryBar>& bars, const PictureSpace& space = {});

}  // namespace sluice
