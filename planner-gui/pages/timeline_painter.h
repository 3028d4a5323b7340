// Paints a timeline: on the screen, or for an exported picture.
#pragma once

#include <QPainter>
#include <optional>

#include "planner-gui/pages/legend.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/pictures/time_view.h"
#include "planner-gui/pictures/timeline_layout.h"

namespace sluice {

class TimelinePainter {
  public:
    TimelinePainter(const Timeline& timeline, const Palette& palette, const QFont& font,
                    const QPaintDevice* device);

    /// For a picture of this size; it may need more height.
    TimelineLayout layout(double width, double height) const;
    void paint(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
               std::optional<TimelinePlace> selected, std::optional<TimelinePlace> hovered,
               bool focused) const;

  private:
    /// Along the axis of time, in the painter's units.
    struct Extent {
        double x, width;
    };
    /// From `start` to `end`, as far as it is in the plot or just outside of it.
    Extent extent(const TimelineLayout& layout, const TimeView& view, Seconds start,
                  Seconds end) const;
    std::vector<LegendEntry> legend() const;
    void label(QPainter& painter, const TimelineLayout& layout, std::size_t row) const;
    void axis(QPainter& painter, const TimelineLayout& layout, const TimeView& view) const;
    void blocks(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                std::size_t row) const;
    void waits(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
               std::size_t row) const;
    void outline(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                 TimelinePlace place, const QPen& pen) const;
    void dependency(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                    TimelinePlace selected) const;
    QString row_title(const TimelineRow& row) const;
    QString row_words(const TimelineRow& row) const;

    const Timeline& timeline_;
    const Palette& palette_;
    QFont font_, bold_;
    QFontMetricsF metrics_, bold_metrics_;
    double pixel_ = 1;  ///< of the device, in the painter's units
};

}  // namespace sluice
