#include "planner-gui/pages/picture_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/palette.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

Point at(QPointF position) { return {position.x(), position.y()}; }

int next_in_grid(int columns, int last, int from, int key) {
    const int column = from % columns;
    const auto within = [&](int place) { return place >= 0 && place <= last ? place : from; };
    switch (key) {
        case Qt::Key_Left:
            return column > 0 ? from - 1 : from;
        case Qt::Key_Right:
            return column + 1 < columns ? within(from + 1) : from;
        case Qt::Key_Up:
            return within(from - columns);
        case Qt::Key_Down:
            return within(from + columns);
        case Qt::Key_Home:
            return from - column;
        default:
            return from - column + columns - 1;
    }
}

bool is_activating(int key) {
    return key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space;
}

}  // namespace

std::optional<int> next_place(const KeyOrder& order, int now, int key) {
    const int last = static_cast<int>(order.ids.size()) - 1;
    const bool selects = key == Qt::Key_Home || key == Qt::Key_End || key == Qt::Key_Up ||
                         key == Qt::Key_Down || key == Qt::Key_Left || key == Qt::Key_Right;
    if (last < 0 || !selects) return std::nullopt;
    if (order.along == KeyOrder::Along::grid)
        return next_in_grid(order.columns, last, std::max(now, 0), key);
    const bool down = order.along == KeyOrder::Along::down;
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    if (down && (key == Qt::Key_Left || key == Qt::Key_Right)) return std::nullopt;
    const bool forth = key == (down ? Qt::Key_Down : Qt::Key_Up) || key == Qt::Key_Right;
    if (forth) return std::min(last, now + 1);
    return now < 0 ? last : std::max(0, now - 1);
}

PictureView::PictureView(const QString& accessible_name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(accessible_name);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void PictureView::setPicture(Make make) {
    make_ = std::move(make);
    updateLeastHeight();
    refresh();
}

PictureSpace PictureView::space() const {
    return {static_cast<double>(width()), static_cast<double>(height()),
            static_cast<double>(QFontInfo(font()).pixelSize())};
}

PictureSpace PictureView::exportedSpace() const {
    return isVisible() ? space() : PictureSpace{1000, 620};
}

void PictureView::setLeastLines(int width, int height) {
    least_ = QSize(width, height);
    measured_ = false;
}

void PictureView::updateLeastHeight() {
    if (!measured_) return;
    PictureSpace least = space();
    least.height = 0;
    const Picture picture = make_ ? make_(least) : Picture();
    least_height_ = picture.shapes.empty() ? 0 : picture.height;
    setMinimumHeight(minimumSizeHint().height());
    updateGeometry();
}

void PictureView::refresh() {
    made_ = false;
    update();
}

const Picture& PictureView::picture() const {
    if (!made_) picture_ = make_ ? make_(space()) : Picture();
    made_ = true;
    return picture_;
}

int PictureView::selected() const { return place_of(picture(), selected_) ? selected_ : kNoId; }

void PictureView::select(int id) {
    if (id == selected_) return;
    if (id != kNoId && !place_of(picture(), id)) id = kNoId;
    selected_ = id;
    if (id != kNoId) setAccessibleDescription(qtext(tooltip_of(picture(), id)));
    update();
    Q_EMIT selectionChanged(id);
}

QByteArray PictureView::svg() const {
    if (!make_) return {};
    const Picture picture = make_(exportedSpace());
    return picture.shapes.empty() ? QByteArray() : QByteArray::fromStdString(to_svg(picture));
}

QString PictureView::tooltipAt(QPointF position) const {
    return qtext(tooltip_at(picture(), at(position)));
}

QSize PictureView::minimumSizeHint() const {
    const int line = fontMetrics().height();
    return {least_.width() * line,
            std::max(least_.height() * line, static_cast<int>(std::ceil(least_height_)))};
}

QSize PictureView::sizeHint() const {
    return minimumSizeHint().expandedTo({40 * fontMetrics().height(), 0});
}

void PictureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours colours = colours_of(palette());
    painter.fillRect(rect(), qcolor(colours.window));
    paint_picture(painter, picture(), colours, font());
    if (selected() == kNoId) setAccessibleDescription(qtext(picture().description));
    outline(painter, selected());
}

/// Two outlines, so that the selection is visible on any colour.
void PictureView::outline(QPainter& painter, int id) const {
    const auto shape = std::ranges::find(picture().shapes, id, &Shape::id);
    if (id == kNoId || shape == picture().shapes.end()) return;
    const Colours colours = colours_of(palette());
    const double width = hasFocus() ? 2.5 : 1.5;
    const Box box = box_of(*shape);
    const bool disc = std::holds_alternative<Disc>(shape->form);
    const Box ring = box.inset(disc ? -0.4 * box.width : width / 2 + 1);
    painter.setRenderHint(QPainter::Antialiasing, disc);
    painter.setBrush(Qt::NoBrush);
    for (const auto& [colour, extra] :
         {std::pair(colours.window, 2.5), std::pair(colours.text, 0.0)}) {
        painter.setPen(
            QPen(qcolor(colour), width + extra, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        const QRectF around(ring.x, ring.y, ring.width, ring.height);
        disc ? painter.drawEllipse(around) : painter.drawRect(around);
    }
}

void PictureView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->oldSize().width() != width()) updateLeastHeight();
    takeRoom();
}

void PictureView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) refresh();
    if (event->type() != QEvent::FontChange) return;
    updateLeastHeight();
    takeRoom();
}

void PictureView::pointAt(std::optional<QPointF> position) {
    const bool there = position && id_at(picture(), at(*position)) != kNoId;
    setCursor(there ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void PictureView::mousePressEvent(QMouseEvent* event) {
    const int id = id_at(picture(), at(event->position()));
    if (id != kNoId && event->button() == Qt::LeftButton) select(id);
}

void PictureView::mouseDoubleClickEvent(QMouseEvent* event) {
    const int id = id_at(picture(), at(event->position()));
    if (id == kNoId || event->button() != Qt::LeftButton) return;
    select(id);
    Q_EMIT activated(id);
}

void PictureView::mouseMoveEvent(QMouseEvent* event) { pointAt(event->position()); }

void PictureView::leaveEvent(QEvent*) { pointAt(std::nullopt); }

void PictureView::keyPressEvent(QKeyEvent* event) {
    const auto found = std::ranges::find(picture().keys.ids, selected_);
    const int now = found == picture().keys.ids.end()
                        ? -1
                        : static_cast<int>(found - picture().keys.ids.begin());
    if (const auto next = next_place(picture().keys, now, event->key()))
        select(picture().keys.ids[static_cast<std::size_t>(*next)]);
    else if (selected() != kNoId && is_activating(event->key()))
        Q_EMIT activated(selected());
    else
        QWidget::keyPressEvent(event);
}

bool PictureView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto& help = *static_cast<QHelpEvent*>(event);
    // An empty text hides the previous tooltip.
    QToolTip::showText(help.globalPos(), tooltipAt(help.pos()), this);
    return true;
}

}  // namespace sluice
