// The picture of the page "Timeline": painted lanes that can be zoomed, panned and pointed at.
#pragma once

#include <optional>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/time_view.h"
#include "sim/report/timeline_picture.h"

namespace sluice {

class TimelineView : public PictureView {
    Q_OBJECT

  public:
    explicit TimelineView(QWidget* parent = nullptr);

    /// Shows the whole step, unless it shows a step as long already.
    void set_timeline(Timeline timeline);
    void set_byte_units(ByteUnits units);
    const Timeline& timeline() const { return timeline_; }
    const TimeView& time_view() const { return view_; }
    std::optional<TimelinePlace> selected_place() const { return selected_; }

    /// What is selected, or else pointed at; empty: neither.
    QString words() const;
    QString tooltipAt(QPointF position) const override;
    /// What is on the screen, with what the step is above it.
    QByteArray svg() const override;
    TimelineLayout layout_now() const;

    void zoom(double factor);  ///< about the middle, or about what is selected
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
    /// The selected operation with a margin, or any other.
    void show_around(TimelinePlace place);
    /// The lane there; nothing beside the lanes.
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
