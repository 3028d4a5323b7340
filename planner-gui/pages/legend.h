// Swatches with names below a picture, in as many lines as they need.
#pragma once

#include <QColor>
#include <QFontMetricsF>
#include <QPainter>
#include <vector>

namespace sluice {

struct LegendEntry {
    QString name;
    QColor colour;
    bool hatched = false;  ///< and outlined
};

/// Height of the entries' lines at this width.
double legend_height(const std::vector<LegendEntry>& entries, const QFontMetricsF& font,
                     double width);

/// Paints them from the top left corner, names in `text`.
void paint_legend(QPainter& painter, const std::vector<LegendEntry>& entries, QPointF top_left,
                  double width, const QColor& text);

}  // namespace sluice
