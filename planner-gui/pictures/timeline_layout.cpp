#include "planner-gui/pictures/timeline_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double kLeastLines = 2.2, kMostLines = 14;  // of a row
constexpr double kGroupGap = 0.55;                    // lines between lanes
constexpr double kPairGap = 0.08;                     // between a lane's predicted and measured row
constexpr double kAxisLines = 1.9;

}  // namespace

std::optional<std::size_t> TimelineLayout::row_at(double y) const {
    for (std::size_t i = 0; i < row_tops.size(); ++i)
        if (y >= row_tops[i] && y < row_tops[i] + row_height) return i;
    return std::nullopt;
}

TimelineLayout timeline_layout(const Timeline& timeline, double width, double height,
                               double label_width, double line, double legend_height) {
    TimelineLayout layout;
    layout.plot_left = label_width;
    layout.plot_width = std::max(1.0, width - label_width - line);
    double gaps = 0;
    for (std::size_t i = 1; i < timeline.rows().size(); ++i)
        gaps +=
            line * (timeline.rows()[i].lane == timeline.rows()[i - 1].lane ? kPairGap : kGroupGap);
    const double rest = kAxisLines * line + legend_height + line;
    const auto rows = static_cast<double>(std::max<std::size_t>(1, timeline.rows().size()));
    layout.row_height = std::floor(
        std::clamp((height - rest - gaps) / rows, kLeastLines * line, kMostLines * line));
    double y = std::round(line / 2);
    for (std::size_t i = 0; i < timeline.rows().size(); ++i) {
        const bool pair = i > 0 && timeline.rows()[i].lane == timeline.rows()[i - 1].lane;
        if (i > 0) y += std::max(1.0, std::round(line * (pair ? kPairGap : kGroupGap)));
        layout.row_tops.push_back(y);
        y += layout.row_height;
    }
    layout.axis_y = y;
    layout.legend_y = y + kAxisLines * line;
    layout.height = layout.legend_y + legend_height + line / 2;
    return layout;
}

TimeTicks time_ticks(Seconds begin, Seconds end, int most) {
    TimeTicks out;
    const Seconds length = end - begin;
    double unit = 1;
    if (length < 2e-3) {
        out.unit = "us";
        unit = 1e-6;
    } else if (length < 2) {
        out.unit = "ms";
        unit = 1e-3;
    }
    const double tick = round_tick(length / unit, most);
    // Rounding shall not cost the tick at an end.
    const double slack = tick * 1e-6;
    const auto first = static_cast<std::int64_t>(std::ceil((begin / unit - slack) / tick));
    for (std::int64_t i = first; static_cast<double>(i) * tick <= end / unit + slack; ++i) {
        const double at = static_cast<double>(i) * tick;
        out.ticks.push_back({at * unit, fmt::format("{:.10g}", at)});
    }
    return out;
}

}  // namespace sluice
