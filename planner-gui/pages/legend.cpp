#include "planner-gui/pages/legend.h"

#include "planner-gui/pages/hatching.h"

namespace sluice {
namespace {

constexpr double kLine = 1.45;  // heights of the font

/// Calls place(entry, x, line) for each; returns the number of lines.
template <typename Place>
int flow(const std::vector<LegendEntry>& entries, const QFontMetricsF& font, double width,
         Place place) {
    double x = 0;
    int line = 0;
    for (const LegendEntry& entry : entries) {
        const double wide = font.height() * 1.3 + font.horizontalAdvance(entry.name);
        if (x > 0 && x + wide > width) {
            x = 0;
            ++line;
        }
        place(entry, x, line);
        x += wide + font.height();
    }
    return entries.empty() ? 0 : line + 1;
}

}  // namespace

double legend_height(const std::vector<LegendEntry>& entries, const QFontMetricsF& font,
                     double width) {
    return kLine * font.height() * flow(entries, font, width, [](const auto&, double, int) {});
}

void paint_legend(QPainter& painter, const std::vector<LegendEntry>& entries, QPointF top_left,
                  double width, const QColor& text) {
    const QFontMetricsF font(painter.font(), painter.device());
    const double swatch = font.height() * 0.8;
    flow(entries, font, width, [&](const LegendEntry& entry, double x, int line) {
        const double top = top_left.y() + kLine * font.height() * line;
        const QRectF box(top_left.x() + x, top + (font.height() - swatch) / 2, swatch, swatch);
        if (entry.hatched) {
            hatch(painter, box, entry.colour, swatch / 3);
            painter.setPen(entry.colour);
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(0, 0, -1, -1));
        } else {
            painter.fillRect(box, entry.colour);
        }
        painter.setPen(text);
        painter.drawText(QPointF(box.left() + font.height() * 1.15, top + font.ascent()),
                         entry.name);
    });
}

}  // namespace sluice
