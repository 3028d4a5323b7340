// Where do the rows of a timeline, its labels and its axis lie? Pixels, derived from the height of
// a line of text.
#pragma once

#include <optional>
#include <vector>

#include "planner-gui/pictures/timeline.h"

namespace sluice {

struct TimelineLayout {
    double plot_left = 0, plot_width = 0;
    std::vector<double> row_tops;  ///< one a row of the timeline
    double row_height = 0;
    double axis_y = 0;  ///< below the rows
    double height = 0;  ///< of rows and axis
    double legend_y = 0;

    std::optional<std::size_t> row_at(double y) const;
};

/// Rows grow with `height` up to seven lines, and are two lines high at least: the layout may be
/// higher than `height`. `label_width` pixels are left of the plot.
TimelineLayout timeline_layout(const Timeline& timeline, double width, double height,
                               double label_width, double line, double legend_height);

/// Ticks of a time axis: where, and what is written there.
struct TimeTick {
    Seconds time = 0;
    std::string label;
};
struct TimeTicks {
    const char* unit = "s";  ///< "s", "ms", "us"
    std::vector<TimeTick> ticks;
};
/// At most `most` + 1 round ones within [begin, end]; precondition: end > begin, most > 0.
TimeTicks time_ticks(Seconds begin, Seconds end, int most);

}  // namespace sluice
