// Paints what memory holds: on the screen, or for an exported picture.
#pragma once

#include <QPainter>
#include <memory>
#include <optional>
#include <vector>

#include "planner-gui/pictures/memory_stack.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {

/// What is painted.
struct MemoryPicture {
    std::shared_ptr<const TimedPlan> report;
    std::vector<MemoryStack> stacks;
    std::vector<HostBar> host;
    std::vector<MemoryMoment> curve;  ///< of the device; empty where there are no times

    MemoryPicture() = default;
    explicit MemoryPicture(std::shared_ptr<const TimedPlan> of);
    bool empty() const { return report == nullptr; }
};

struct MemoryLayout {
    std::vector<QRectF> bars;  ///< one a stack
    QRectF table;
    QRectF curve;              ///< plot area; null without a curve
    std::vector<QRectF> host;  ///< rows of the host's moments, plot area
    double height = 0;
    std::vector<Bytes> full;  ///< bytes at the right end of each bar
    Bytes curve_full = 0;     ///< bytes at the curve's top
    Bytes host_full = 0;      ///< bytes at the right end of the host's rows
    std::optional<Seconds> time_at(QPointF position, Seconds step) const;
};

class MemoryPainter {
  public:
    MemoryPainter(const MemoryPicture& picture, const Palette& palette, ByteUnits units,
                  const QFont& font, const QPaintDevice* device);

    MemoryLayout layout(double width, double height) const;
    void paint(QPainter& painter, const MemoryLayout& layout, std::optional<Seconds> cursor) const;

  private:
    // In heights of a line: above a picture, and of the table.
    static constexpr double kTitle = 1.4, kRow = 1.35;

    void bar(QPainter& painter, const MemoryLayout& layout, std::size_t stack) const;
    void table(QPainter& painter, const MemoryLayout& layout) const;
    void curve(QPainter& painter, const MemoryLayout& layout, std::optional<Seconds> cursor) const;
    void curve_axes(QPainter& painter, const MemoryLayout& layout) const;
    /// Where it is wide enough for it.
    void name_on(QPainter& painter, const QRectF& box, const MemorySegment& segment) const;
    void host(QPainter& painter, const MemoryLayout& layout) const;
    void host_row(QPainter& painter, const HostBar& bar, const QRectF& row, Bytes full,
                  Bytes usable) const;
    /// The host's rows in `area`, with their names at its left.
    void place_host(MemoryLayout& layout, QRectF area) const;
    void axis(QPainter& painter, const QRectF& plot, Bytes full) const;
    void title(QPainter& painter, QPointF at, const QString& words, const QString& more,
               const QColor& colour) const;
    double byte_tick(Bytes full, int most) const;
    QString bytes(Bytes count) const { return byte_text(static_cast<double>(count), units_); }
    QColor fill(const MemorySegment& segment) const;
    QColor fill(const QString& row) const;
    std::vector<QString> row_names() const;
    QString cell(const QString& row, const MemoryStack& stack) const;
    double column_width(const MemoryStack& stack) const;
    double names_width() const;

    const MemoryPicture& picture_;
    const Palette& palette_;
    ByteUnits units_;
    QFont font_, bold_;
    QFontMetricsF metrics_, bold_metrics_;
    double line_ = 1;
};

}  // namespace sluice
