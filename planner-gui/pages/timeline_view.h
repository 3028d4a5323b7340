// The picture of the page "Timeline": lanes that can be zoomed and panned and whose operations can
// be selected.
#pragma once

#include <optional>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/time_view.h"
#include "sim/report/timeline_picture.h"

namespace sluice {

class TimelineView : public PictureView {
    Q_OBJECT

  public:
    explicit TimelineView(QWidget* parent = nullptr);

    /// Shows the whole step, unless the step has the same length as before.
    void set_timeline(Timeline timeline);
    void set_byte_units(ByteUnits units);
    const Timeline& timeline() const { return timeline_; }
    const TimeView& time_view() const { return view_; }
    std::optional<TimelinePlace> selected_place() const { return selected_; }

    /// Facts about the selected operation, else the one under the pointer; empty: neither.
    QString words() const;
    QString tooltipAt(QPointF position) const override;
    /// The visible part, with model, machine and speed above it.
    QByteArray svg() const override;
    TimelineLayout layout_now() const;

    void zoom(double factor);  ///< around the middle, or around the selected operation
    void show_all();
    void select_place(std::optional<TimelinePlace> place);
    void scroll_to(Seconds begin);

  Q_SIGNALS:
    void view_changed();
    void words_changed(const QString& words);

  protected:
    void takeRoom() override;
    void pointAt(std::optional<QPointF> position) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void set_view(const TimeView& view);
    TimelineShown shown() const;
    void select_beside(int operations, int rows);
    /// The selected operation with a margin, or the given one.
    void show_around(TimelinePlace place);
    /// The lane at that point; empty outside of the lanes.
    std::optional<std::size_t> row_at(QPointF position) const;
    std::optional<TimelinePlace> place_at(QPointF position) const;

    Timeline timeline_;
    TimeView view_;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<TimelinePlace> selected_, hovered_;
    QPointF pressed_;
    TimeView pressed_view_;
    bool dragging_ = false;
};

}  // namespace sluice
