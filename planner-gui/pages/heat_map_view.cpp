#include "planner-gui/pages/heat_map_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

/// Two lines, so that it is seen on any colour.
void frame(QPainter& painter, const QRectF& box, const QColor& inner, const QColor& outer,
           double width) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(outer, 2 * width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    painter.drawRect(box.adjusted(width, width, -width, -width));
    painter.setPen(QPen(inner, width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    painter.drawRect(box.adjusted(width, width, -width, -width));
}

}  // namespace

HeatMapView::HeatMapView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Heat map"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void HeatMapView::setMap(const HeatMap& map) {
    map_ = map;
    selected_.reset();
    if (map_.contains({0, 0})) selected_ = CellIndex{0, 0};
    update();
    Q_EMIT selectionChanged();
}

void HeatMapView::setCell(CellIndex at, const HeatCell& cell) {
    map_.set_cell(at, cell);
    update();
    if (selected_ == at) Q_EMIT selectionChanged();
}

void HeatMapView::setQuantity(HeatQuantity quantity) {
    quantity_ = quantity;
    update();
}

void HeatMapView::setByteUnits(ByteUnits units) {
    units_ = units;
    update();
    Q_EMIT selectionChanged();
}

void HeatMapView::select(CellIndex at) {
    if (!map_.contains(at) || selected_ == at) return;
    selected_ = at;
    update();
    Q_EMIT selectionChanged();
}

QSize HeatMapView::sizeHint() const {
    const int line = fontMetrics().height();
    return {40 * line, 24 * line};
}

QSize HeatMapView::minimumSizeHint() const {
    const int line = fontMetrics().height();
    return {24 * line, 10 * line};
}

HeatMapSizes HeatMapView::sizes() const {
    const QFontMetricsF metrics(font());
    HeatMapSizes sizes;
    sizes.line = metrics.height();
    const auto widest = [&](const HeatAxis& axis) {
        double width = 0;
        for (const double value : axis.values)
            width =
                std::max(width, metrics.horizontalAdvance(text(value_label(axis.number, value))));
        return width;
    };
    sizes.y_labels = widest(map_.y());
    sizes.x_labels = widest(map_.x());
    sizes.legend_labels =
        std::max(metrics.horizontalAdvance(cell_state_name(CellState::does_not_fit)),
                 metrics.horizontalAdvance(quantity_name(quantity_)));
    return sizes;
}

HeatMapGeometry HeatMapView::geometryOfMap() const { return {map_, size(), sizes()}; }

void HeatMapView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette colours(palette());
    painter.fillRect(rect(), colours.window());
    if (map_.columns() == 0 || map_.rows() == 0) return;
    const HeatMapGeometry geometry = geometryOfMap();
    const ValueScale scale = map_.scale(quantity_);
    const std::size_t misfit_caption = misfitCaption(geometry);
    for (int y = 0; y < map_.rows(); ++y)
        for (int x = 0; x < map_.columns(); ++x)
            paintCell(painter, geometry, scale, {x, y}, misfit_caption);
    paintLabels(painter, geometry);
    paintLegend(painter, geometry, scale);
    const double width = std::max(1.5, sizes().line / 10);
    if (const auto best = map_.best(quantity_))
        frame(painter, geometry.cell(*best), Qt::black, Qt::white, width);
    if (!selected_) return;
    const double inside = 3 * width;
    frame(painter, geometry.cell(*selected_).adjusted(inside, inside, -inside, -inside),
          hasFocus() ? colours.selection() : colours.axis(), colours.window(),
          hasFocus() ? width : width / 2);
}

std::size_t HeatMapView::misfitCaption(const HeatMapGeometry& geometry) const {
    const QFontMetricsF metrics(font());
    const double room = geometry.cell({0, 0}).width() - 1 - metrics.height() / 2;
    std::size_t least = 0;
    for (int y = 0; y < map_.rows(); ++y) {
        for (int x = 0; x < map_.columns(); ++x) {
            if (map_.cell({x, y}).state != CellState::does_not_fit) continue;
            const QStringList captions = cell_captions(map_, {x, y}, quantity_, units_);
            std::size_t one = 0;
            while (one + 1 < static_cast<std::size_t>(captions.size()) &&
                   metrics.horizontalAdvance(captions[static_cast<qsizetype>(one)]) > room)
                ++one;
            least = std::max(least, one);
        }
    }
    return least;
}

void HeatMapView::paintMisfit(QPainter& painter, const QRectF& box) const {
    QColor lines = Palette(palette()).text();
    lines.setAlphaF(0.3F);
    painter.fillRect(box, Palette(palette()).plot());
    painter.fillRect(box, QBrush(lines, Qt::BDiagPattern));
}

void HeatMapView::paintCell(QPainter& painter, const HeatMapGeometry& geometry,
                            const ValueScale& scale, CellIndex at,
                            std::size_t misfit_caption) const {
    const QRectF box = geometry.cell(at).adjusted(0.5, 0.5, -0.5, -0.5);
    const CellState state = map_.cell(at).state;
    const std::optional<double> value = map_.value(at, quantity_);
    QColor ink = Palette(palette()).text();
    if (value) {
        const QColor fill = Palette::scale(scale.share(*value));
        painter.fillRect(box, fill);
        ink = Palette::text_on(fill);
    } else if (state == CellState::does_not_fit) {
        paintMisfit(painter, box);
    } else if (state == CellState::not_computed) {
        painter.setPen(QPen(Palette(palette()).axis(), 1, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(1, 1, -1, -1));
    } else {
        painter.fillRect(box, Palette(palette()).plot());
    }
    QStringList captions = cell_captions(map_, at, quantity_, units_);
    if (state == CellState::does_not_fit)
        captions = captions.mid(static_cast<qsizetype>(misfit_caption));
    for (const QString& caption : captions) {
        const QFontMetricsF metrics(font());
        const double width = metrics.horizontalAdvance(caption);
        if (width > box.width() - metrics.height() / 2 || metrics.height() > box.height()) continue;
        if (state == CellState::does_not_fit && !caption.isEmpty()) {
            // The hatching would run through the letters.
            QRectF behind(0, 0, width + metrics.height() / 2, metrics.height());
            behind.moveCenter(box.center());
            painter.fillRect(behind, Palette(palette()).plot());
        }
        painter.setPen(ink);
        painter.drawText(box, Qt::AlignCenter, caption);
        break;
    }
}

void HeatMapView::paintLabels(QPainter& painter, const HeatMapGeometry& geometry) const {
    painter.setPen(Palette(palette()).text());
    const auto label = [](const HeatAxis& axis, int index) {
        return text(value_label(axis.number, axis.values[static_cast<std::size_t>(index)]));
    };
    for (int y = 0; y < map_.rows(); ++y)
        painter.drawText(geometry.row_label(y), Qt::AlignRight | Qt::AlignVCenter,
                         label(map_.y(), y));
    for (int x = 0; x < map_.columns(); x += geometry.column_step())
        painter.drawText(geometry.column_label(x), Qt::AlignCenter, label(map_.x(), x));
    QFont strong = font();
    strong.setBold(true);
    painter.setFont(strong);
    painter.drawText(geometry.y_title(), Qt::AlignLeft | Qt::AlignVCenter,
                     QStringLiteral("\u2191 ") + text(axis_title(map_.y().number)));
    painter.drawText(geometry.x_title(), Qt::AlignLeft | Qt::AlignVCenter,
                     QStringLiteral("\u2192 ") + text(axis_title(map_.x().number)));
    painter.setFont(font());
}

void HeatMapView::paintLegend(QPainter& painter, const HeatMapGeometry& geometry,
                              const ValueScale& scale) const {
    const QRectF bar = geometry.legend();
    const double line = sizes().line;
    painter.setPen(Palette(palette()).text());
    painter.drawText(QRectF(bar.left(), bar.top() - 1.5 * line, 30 * line, line), Qt::AlignLeft,
                     quantity_name(quantity_));
    if (!scale.empty()) {
        QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
        for (int i = 0; i <= 9; ++i) gradient.setColorAt(i / 9.0, Palette::scale(i / 9.0));
        painter.fillRect(bar, gradient);
    }
    for (const double tick : scale.ticks()) {
        const double y = geometry.legend_y(scale.share(tick));
        painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + line / 4, y));
        painter.drawText(QRectF(bar.right() + line / 2, y - line / 2, 10 * line, line),
                         Qt::AlignLeft | Qt::AlignVCenter, quantity_text(quantity_, tick, units_));
    }
    paintMisfit(painter, geometry.key_swatch(0));
    painter.fillRect(geometry.key_swatch(1), Palette(palette()).plot());
    painter.setPen(Palette(palette()).text());
    painter.drawText(geometry.key_swatch(1), Qt::AlignCenter, QStringLiteral("\u00d7"));
    const std::array names = {cell_state_name(CellState::does_not_fit),
                              cell_state_name(CellState::refused), tr("best")};
    for (int i = 0; i < kHeatMapKeys; ++i)
        painter.drawText(geometry.key_text(i), Qt::AlignLeft | Qt::AlignVCenter,
                         names[static_cast<std::size_t>(i)]);
    painter.fillRect(geometry.key_swatch(2), Palette::scale(0.8));
    frame(painter, geometry.key_swatch(2), Qt::black, Qt::white, std::max(1.5, line / 10));
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
    if (const auto at = geometryOfMap().at(event->position())) select(*at);
}

void HeatMapView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (!geometryOfMap().at(event->position())) return;
    mousePressEvent(event);
    Q_EMIT activated();
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
    if (!selected_) return QWidget::keyPressEvent(event);
    if (is_activating(event->key())) {
        Q_EMIT activated();
    } else if (const auto to = moved(map_, *selected_, event->key())) {
        select(*to);
    } else {
        QWidget::keyPressEvent(event);
    }
}

bool HeatMapView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto& help = *static_cast<QHelpEvent*>(event);
    const auto at = geometryOfMap().at(help.pos());
    show_tooltip(help, at ? cell_lines(map_, *at, units_).join(QLatin1Char('\n')) : QString(),
                 this);
    return true;
}

}  // namespace sluice
