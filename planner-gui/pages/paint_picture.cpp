// Paints shapes with QPainter.
#include <QPainter>
#include <QPainterPath>
#include <cmath>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

QPointF point_of(Point point) { return {point.x, point.y}; }

class Painting {
  public:
    Painting(QPainter& painter, const Colours& colours, QFont font)
        : painter_(painter), colours_(colours), font_(std::move(font)) {}

    void shape(const Shape& shape) {
        std::visit([&](const auto& form) { draw(form, shape); }, shape.form);
    }

  private:
    QColor colour(const Paint& paint) const { return qcolor(colours_, paint); }
    QPen pen(const Shape& shape) const {
        if (shape.stroke.role == Role::none) return Qt::NoPen;
        QPen out(colour(shape.stroke), shape.stroke_width, Qt::SolidLine, Qt::FlatCap,
                 Qt::MiterJoin);
        if (shape.dashed) out.setDashPattern({5 / shape.stroke_width, 4 / shape.stroke_width});
        return out;
    }
    /// Lines along the pixels stay sharp, and adjacent blocks have no gap.
    void take(const Shape& shape, bool smooth) {
        painter_.setRenderHint(QPainter::Antialiasing, smooth);
        painter_.setPen(pen(shape));
        painter_.setBrush(shape.fill.role == Role::none ? QBrush() : QBrush(colour(shape.fill)));
    }

    void draw(const Rectangle& form, const Shape& shape) {
        // Whole pixels, at least one.
        const double left = std::round(form.box.x), top = std::round(form.box.y);
        const QRectF box(QPointF(left, top),
                         QPointF(std::max(left + 1, std::round(form.box.right())),
                                 std::max(top + 1, std::round(form.box.bottom()))));
        if (shape.fill.role != Role::none) painter_.fillRect(box, colour(shape.fill));
        if (shape.stroke.role == Role::none) return;
        take(shape, false);
        painter_.setBrush(Qt::NoBrush);
        const double half = shape.stroke_width / 2;
        painter_.drawRect(box.adjusted(half, half, -half, -half));
    }
    void draw(const Path& form, const Shape& shape) {
        QPolygonF points;
        bool slanted = false;
        for (const Point& point : form.points) {
            const QPointF next = point_of(point);
            slanted = slanted || (!points.isEmpty() && points.back().x() != next.x() &&
                                  points.back().y() != next.y());
            points << next;
        }
        take(shape, slanted);
        if (form.closed)
            painter_.drawPolygon(points);
        else
            painter_.drawPolyline(points);
    }
    void draw(const Disc& form, const Shape& shape) {
        take(shape, true);
        painter_.drawEllipse(point_of(form.centre), form.radius, form.radius);
    }
    void draw(const Hatching& form, const Shape& shape) {
        take(shape, false);
        QList<QLineF> lines;
        for (const auto& [from, to] : hatching_lines(form))
            lines << QLineF(point_of(from), point_of(to));
        painter_.drawLines(lines);
    }
    void draw(const Words& form, const Shape& shape) {
        QFont font = font_;
        font.setPixelSize(std::max(1, static_cast<int>(std::lround(form.size))));
        font.setBold(form.bold);
        const QString words = qtext(form.text);
        const double width = QFontMetricsF(font, painter_.device()).horizontalAdvance(words);
        const double before = form.anchor == Anchor::start    ? 0
                              : form.anchor == Anchor::middle ? width / 2
                                                              : width;
        painter_.save();
        painter_.translate(point_of(form.at));
        if (form.upright) painter_.rotate(-90);
        if (shape.stroke.role != Role::none) {
            QPainterPath letters;
            letters.addText(QPointF(-before, 0), font, words);
            painter_.setRenderHint(QPainter::Antialiasing);
            painter_.strokePath(letters, QPen(colour(shape.stroke), shape.stroke_width,
                                              Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        }
        painter_.setFont(font);
        painter_.setPen(colour(shape.fill));
        painter_.drawText(QPointF(-before, 0), words);
        painter_.restore();
    }

    QPainter& painter_;
    const Colours& colours_;
    const QFont font_;
};

}  // namespace

void paint_picture(QPainter& painter, const Picture& picture, const Colours& colours,
                   const QFont& font) {
    Painting painting(painter, colours, font);
    for (const Shape& shape : picture.shapes) painting.shape(shape);
}

}  // namespace sluice
