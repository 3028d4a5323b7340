// The parts of the memory picture; memory_picture() in memory_stack.h draws all of it.
#pragma once

#include "planner-gui/pictures/memory_stack.h"
#include "sim/base/format.h"
#include "sim/report/chart_parts.h"
#include "sim/report/colours.h"
#include "sim/report/svg_text.h"

namespace sluice {

class MemoryDrawing {
  public:
    MemoryDrawing(const TimedPlan& report, ByteUnits units, const PictureSpace& space);
    Picture draw();

  private:
    // In lines of text: above a part, a row of the table, and so on.
    static constexpr double kTitle = 1.4, kRow = 1.35, kBar = 1.9, kMostBar = 3.2, kAxis = 1.6,
                            kGap = 0.9, kLeastCurve = 9;
    static constexpr double kRoom = 1.12;       // above the curve's peak
    static constexpr double kCurveShare = 0.6;  // of the width
    static constexpr int kMostTicks = 8;

    /// A row of the table.
    struct Row {
        QString name;
        Paint colour;
    };

    void bar(const MemoryStack& stack, const Box& plot);
    void name_on(const Box& box, const MemorySegment& segment);
    void lacking(const Box& box);
    double column_width(const MemoryStack& stack) const;
    double names_width() const;
    double table_width() const;
    std::string cell(const Row& row, const MemoryStack& stack) const;
    void draw_table(Point top_left);
    void draw_curve(const Box& plot, double title_x);
    void curve_areas(const Box& plot, const Axis& levels);
    void curve_hundredths(const Box& plot);
    void draw_host(const Box& area);
    void title(Point at, const QString& words, const std::string& more, Paint colour);
    Axis byte_axis(Bytes full, double room, double tick_room) const;
    std::string tick(double at) const;
    std::string bytes(Bytes count) const;
    static Paint fill(const MemorySegment& segment);

    const TimedPlan& report_;
    const ByteUnits units_;
    const double font_, line_;
    const std::vector<MemoryStack> stacks_;
    std::vector<MemoryMoment> curve_;  ///< of the device; empty where there are no times
    std::vector<Row> rows_;
    Picture out_;
};

}  // namespace sluice
