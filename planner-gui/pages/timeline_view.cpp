#include "planner-gui/pages/timeline_view.h"

#include <QApplication>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "sim/report/operation_facts.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

constexpr double kZoomOfKey = 1.5;
constexpr double kPanOfKey = 0.15;   // share of the width
constexpr double kNear = 4;          // pixels: the pointer means an operation within this distance
constexpr double kNotchZoom = 1.25;  // one notch of a wheel, 120 eighths of a degree
constexpr double kAll = 1e7;         // share of the width: the furthest pan

}  // namespace

TimelineView::TimelineView(QWidget* parent) : PictureView(tr("Timeline of a step"), parent) {
    setPicture([this](const PictureSpace& space) {
        Picture picture = timeline_picture(timeline_, space, shown());
        picture.description =
            tr("Lanes of a steady step. Plus and minus zoom, 0 shows all, left and right pan; "
               "comma and full stop select the operation before and after, up and down the lane.")
                .toStdString();
        return picture;
    });
}

TimelineShown TimelineView::shown() const {
    return {view_.begin, view_.end, selected_, hovered_, {}, false};
}

QByteArray TimelineView::svg() const {
    if (timeline_.empty()) return {};
    TimelineShown file = shown();
    file.selected = file.hovered = std::nullopt;
    file.header = timeline_header(*timeline_.rows().front().report);
    file.tooltips = true;
    PictureSpace space = exportedSpace();
    space.width = std::max(space.width, 1000.0);
    return QByteArray::fromStdString(to_svg(timeline_picture(timeline_, space, file)));
}

void TimelineView::set_timeline(Timeline timeline) {
    const bool same = timeline.length() == timeline_.length();
    timeline_ = std::move(timeline);
    hovered_.reset();
    selected_.reset();
    if (!same) view_ = view_.showing_all(std::max(timeline_.length(), 1e-9));
    updateLeastHeight();
    takeRoom();
    Q_EMIT words_changed(words());
}

void TimelineView::set_byte_units(ByteUnits units) {
    units_ = units;
    Q_EMIT words_changed(words());
}

TimelineLayout TimelineView::layout_now() const { return timeline_layout(timeline_, space()); }

void TimelineView::takeRoom() {
    const TimelineLayout layout = layout_now();
    set_view(view_.at(layout.plot_left, layout.plot_width));
}

void TimelineView::set_view(const TimeView& view) {
    view_ = view;
    refresh();
    Q_EMIT view_changed();
}

std::optional<std::size_t> TimelineView::row_at(QPointF position) const {
    if (timeline_.empty() || position.x() < view_.left) return std::nullopt;
    return layout_now().row_at(position.y());
}

std::optional<TimelinePlace> TimelineView::place_at(QPointF position) const {
    const auto row = row_at(position);
    if (!row) return std::nullopt;
    return timeline_.hit(*row, view_.x_to_time(position.x()), view_.seconds_of(kNear));
}

QString TimelineView::tooltipAt(QPointF position) const {
    const auto row = row_at(position);
    if (!row) return {};
    const TimelineRow& of = timeline_.rows()[*row];
    const auto wait = timeline_.wait_at(*row, view_.x_to_time(position.x()));
    if (wait && of.lane.work == Work::compute) return qtext(facts_lines(wait_facts(of, *wait)));
    const auto place = place_at(position);
    if (!place) return {};
    return qtext(facts_lines(operation_facts(of, timeline_.operation(*place), bytes_text(units_))));
}

QString TimelineView::words() const {
    const auto place = selected_ ? selected_ : hovered_;
    if (!place) return {};
    return qtext(facts_line(operation_facts(timeline_.rows()[place->row],
                                            timeline_.operation(*place), bytes_text(units_))));
}

void TimelineView::zoom(double factor) {
    double x = view_.left + view_.width / 2;
    if (selected_) {
        const Block& block = timeline_.block(*selected_);
        const double middle = view_.time_to_x((block.start + block.end) / 2);
        if (middle >= view_.left && middle <= view_.left + view_.width) x = middle;
    }
    set_view(view_.zoomed(factor, x, timeline_.length()));
}

void TimelineView::show_all() { set_view(view_.showing_all(timeline_.length())); }

void TimelineView::scroll_to(Seconds begin) {
    if (begin == view_.begin) return;
    set_view(
        view_.panned((begin - view_.begin) / view_.length() * view_.width, timeline_.length()));
}

void TimelineView::select_place(std::optional<TimelinePlace> place) {
    selected_ = place;
    if (place) {
        const Block& block = timeline_.block(*place);
        set_view(view_.revealing(block.start, block.end, timeline_.length()));
    }
    refresh();
    Q_EMIT words_changed(words());
}

void TimelineView::select_beside(int operations, int rows) {
    if (!selected_) {
        // The first visible operation of the lane compute, which the other lanes depend on.
        const auto compute =
            std::ranges::find(timeline_.rows(), Lane(Work::compute), &TimelineRow::lane);
        const auto row = compute == timeline_.rows().end() ? 0 : compute - timeline_.rows().begin();
        select_place(timeline_.hit(static_cast<std::size_t>(row), view_.begin, timeline_.length()));
    } else if (rows != 0) {
        select_place(timeline_.below(*selected_, rows));
    } else {
        select_place(timeline_.beside(*selected_, operations));
    }
}

void TimelineView::show_around(TimelinePlace place) {
    const Block& block = timeline_.block(place);
    set_view(view_.around(block.start, block.end, timeline_.length()));
}

void TimelineView::pointAt(std::optional<QPointF> position) {
    const auto place = position ? place_at(*position) : std::nullopt;
    if (place == hovered_) return;
    hovered_ = place;
    refresh();
    if (!selected_) Q_EMIT words_changed(words());
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    if (timeline_.empty()) return event->ignore();
    const QPoint turned = event->angleDelta();
    const bool sideways = std::abs(turned.x()) > std::abs(turned.y());
    if (sideways || event->modifiers().testFlag(Qt::ShiftModifier)) {
        const int by = sideways ? turned.x() : turned.y();
        set_view(view_.panned(-by, timeline_.length()));
    } else {
        set_view(view_.zoomed(std::pow(kNotchZoom, turned.y() / 120.0), event->position().x(),
                              timeline_.length()));
    }
    event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    pressed_ = event->position();
    pressed_view_ = view_;
    dragging_ = false;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!event->buttons().testFlag(Qt::LeftButton)) return pointAt(event->position());
    const double by = pressed_.x() - event->position().x();
    if (std::abs(by) >= QApplication::startDragDistance()) dragging_ = true;
    if (!dragging_ || timeline_.empty()) return;
    setCursor(Qt::ClosedHandCursor);
    set_view(pressed_view_.panned(by, timeline_.length()));
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mouseReleaseEvent(event);
    unsetCursor();
    if (!dragging_) select_place(place_at(event->position()));
    dragging_ = false;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    const auto place = place_at(event->position());
    place ? show_around(*place) : show_all();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    if (timeline_.empty()) return QWidget::keyPressEvent(event);
    const auto pan = [this](double share) {
        set_view(view_.panned(share * view_.width, timeline_.length()));
    };
    const bool many = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(kZoomOfKey);
        case Qt::Key_Minus:
            return zoom(1 / kZoomOfKey);
        case Qt::Key_0:
            return show_all();
        case Qt::Key_Left:
            return many ? select_beside(-1, 0) : pan(-kPanOfKey);
        case Qt::Key_Right:
            return many ? select_beside(1, 0) : pan(kPanOfKey);
        case Qt::Key_Home:
            return pan(-kAll);
        case Qt::Key_End:
            return pan(kAll);
        case Qt::Key_Comma:
            return select_beside(-1, 0);
        case Qt::Key_Period:
            return select_beside(1, 0);
        case Qt::Key_Up:
            return select_beside(0, -1);
        case Qt::Key_Down:
            return select_beside(0, 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!selected_) return QWidget::keyPressEvent(event);
            return show_around(*selected_);
        case Qt::Key_Escape:
            if (!selected_) return QWidget::keyPressEvent(event);
            return select_place(std::nullopt);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace sluice
