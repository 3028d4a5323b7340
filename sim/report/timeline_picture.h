// How does a steady step look? Lanes over time, with the pauses in which compute waits; a measured
// step below a predicted one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/timeline.h"

namespace sluice {

struct TimelineHeader {
    std::string title;
    std::vector<std::string> lines;
};
/// Model, machine, batch, speed and limit.
TimelineHeader timeline_header(const TimedPlan& report);

/// The part of a timeline that is shown.
struct TimelineShown {
    Seconds begin = 0, end = 0;  ///< end 0: the whole step
    std::optional<TimelinePlace> selected = {}, hovered = {};
    std::optional<TimelineHeader> header = {};
    bool tooltips = false;  ///< one per block
};

/// Where rows, labels and axis lie, in pixels.
struct TimelineLayout {
    double plot_left = 0, plot_width = 0;
    double header = 0;             ///< height
    std::vector<double> row_tops;  ///< one per row of the timeline
    double row_height = 0;
    double axis_y = 0;  ///< below the rows
    double legend_y = 0;
    double height = 0;  ///< of the whole picture

    std::optional<std::size_t> row_at(double y) const;
};
/// Rows grow with the space and are at least two lines high, so the layout may be higher than the
/// space.
TimelineLayout timeline_layout(const Timeline& timeline, const PictureSpace& space,
                               const TimelineShown& shown = {});

Picture timeline_picture(const Timeline& timeline, const PictureSpace& space,
                         const TimelineShown& shown);
/// A whole step, as in a file.
Picture step_picture(const TimedPlan& report);

struct TimeTick {
    Seconds time = 0;
    std::string label;
};
struct TimeTicks {
    const char* unit = "s";  ///< "s", "ms", "us"
    std::vector<TimeTick> ticks;
};
/// At most `most` + 1 round ticks within [begin, end]; precondition: end > begin, most > 0.
TimeTicks time_ticks(Seconds begin, Seconds end, int most);

}  // namespace sluice
