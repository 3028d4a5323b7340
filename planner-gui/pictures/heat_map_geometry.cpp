#include "planner-gui/pictures/heat_map_geometry.h"

#include <QtCore/qnamespace.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// Of a line's height.
constexpr double kMargin = 0.6, kGap = 0.5, kBar = 1.2;
constexpr double kWidestCell = 32, kHighestCell = 14;

}  // namespace

HeatMapGeometry::HeatMapGeometry(const HeatMap& map, QSizeF size, const HeatMapSizes& sizes)
    : sizes_(sizes), columns_(map.columns()), rows_(map.rows()) {
    const double line = sizes.line, margin = kMargin * line, gap = kGap * line;
    const double left = margin + sizes.y_labels + gap;
    const double top = margin + 1.5 * line;
    const double legend_width = kBar * line + gap + sizes.legend_labels;
    const double width = std::max(line, size.width() - left - 2 * line - legend_width - margin);
    const double height = std::max(line, size.height() - top - 2.6 * line - margin);
    plot_ = QRectF(left, top, std::min(width, std::max(1, columns_) * kWidestCell * line),
                   std::min(height, std::max(1, rows_) * kHighestCell * line));
    // The legend needs room for its ticks and keys, whatever the number of rows.
    const double legend_height =
        std::max(4 * line, std::min(height, std::max(plot_.height(), 14 * line)) -
                               (kHeatMapKeys + 1) * 1.4 * line);
    legend_ = QRectF(plot_.right() + 2 * line, top, kBar * line, legend_height);
    y_title_ = QRectF(margin, margin, size.width() - 2 * margin, line);
    x_title_ =
        QRectF(plot_.left(), plot_.bottom() + 1.5 * line, std::max(plot_.width(), 14 * line), line);
    const double cell_width = plot_.width() / std::max(1, columns_);
    column_step_ = std::max(1, static_cast<int>(std::ceil((sizes.x_labels + gap) / cell_width)));
}

QRectF HeatMapGeometry::cell(CellIndex at) const {
    const double width = plot_.width() / columns_, height = plot_.height() / rows_;
    return {plot_.left() + at.x * width, plot_.bottom() - (at.y + 1) * height, width, height};
}

std::optional<CellIndex> HeatMapGeometry::at(QPointF point) const {
    if (columns_ == 0 || rows_ == 0 || !plot_.contains(point)) return std::nullopt;
    const auto index = [](double share, int count) {
        return std::clamp(static_cast<int>(share * count), 0, count - 1);
    };
    return CellIndex{index((point.x() - plot_.left()) / plot_.width(), columns_),
                     index((plot_.bottom() - point.y()) / plot_.height(), rows_)};
}

QRectF HeatMapGeometry::row_label(int y) const {
    const QRectF row = cell({0, y});
    const double right = plot_.left() - kGap * sizes_.line;
    return {right - sizes_.y_labels, row.center().y() - sizes_.line / 2, sizes_.y_labels,
            sizes_.line};
}

QRectF HeatMapGeometry::column_label(int x) const {
    const QRectF column = cell({x, 0});
    const double width = std::max(sizes_.x_labels, column.width());
    return {column.center().x() - width / 2, plot_.bottom() + kGap * sizes_.line / 2, width,
            sizes_.line};
}

QRectF HeatMapGeometry::key_swatch(int index) const {
    const double line = sizes_.line;
    return {legend_.left(), legend_.bottom() + (1 + 1.4 * index) * line, legend_.width(), line};
}

QRectF HeatMapGeometry::key_text(int index) const {
    const QRectF swatch = key_swatch(index);
    return {swatch.right() + kGap * sizes_.line, swatch.top(), sizes_.legend_labels,
            swatch.height()};
}

std::optional<CellIndex> moved(const HeatMap& map, CellIndex from, int key) {
    CellIndex to = from;
    switch (key) {
        case Qt::Key_Left:
            --to.x;
            break;
        case Qt::Key_Right:
            ++to.x;
            break;
        case Qt::Key_Up:
            ++to.y;
            break;
        case Qt::Key_Down:
            --to.y;
            break;
        case Qt::Key_Home:
            to.x = 0;
            break;
        case Qt::Key_End:
            to.x = map.columns() - 1;
            break;
        default:
            return std::nullopt;
    }
    return map.contains(to) ? to : from;
}

}  // namespace sluice
