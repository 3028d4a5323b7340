#include "planner-gui/pictures/bar_chart.h"

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// In heights of a line of text.
constexpr double kRow = 2.0, kBar = 1.15, kGap = 0.5;
constexpr double kNames = 0.4, kLeastPlot = 0.25;  // of the width
constexpr double kTickRoom = 5;                    // a tick takes so many heights of a line

QString tick_text(double value, bool percent) {
    if (percent) return QStringLiteral("%1%").arg(100 * value, 0, 'g', 4);
    return QString::fromStdString(format_thousands(value));
}

struct Range {
    double least = 0, most = 0;
};
Range range_of(const BarChart& chart) {
    Range range;
    for (const Bar& bar : chart.bars) {
        range.least = std::min({range.least, bar.value, bar.misfit.isEmpty() ? bar.low : 0});
        range.most = std::max({range.most, bar.value, bar.misfit.isEmpty() ? bar.high : 0});
    }
    // Nothing gains: an axis nevertheless.
    if (range.most - range.least <= 0) range.most = range.least + (chart.percent ? 0.01 : 1);
    return range;
}

}  // namespace

BarLayout place_bars(const BarChart& chart, double width, const QFontMetricsF& font) {
    const double line = font.height(), gap = kGap * line;
    double names = 0, labels = 0;
    for (const Bar& bar : chart.bars) {
        names = std::max(names, font.horizontalAdvance(bar.name));
        if (bar.misfit.isEmpty()) labels = std::max(labels, font.horizontalAdvance(bar.label));
    }
    names = std::min(names, kNames * width);
    const double left = gap + names + gap;
    const double right = std::max(left + kLeastPlot * width, width - gap - labels - gap);
    const Range range = range_of(chart);
    const auto x = [&](double value) {
        return left + (value - range.least) / (range.most - range.least) * (right - left);
    };

    BarLayout layout;
    layout.zero = x(0);
    double y = gap;
    for (const Bar& bar : chart.bars) {
        PlacedBar placed;
        placed.row = {0, y, width, kRow * line};
        const double middle = placed.row.center().y();
        placed.name = {gap, y, names, kRow * line};
        placed.bar = QRectF(QPointF(x(std::min(0.0, bar.value)), middle - kBar * line / 2),
                            QPointF(x(std::max(0.0, bar.value)), middle + kBar * line / 2));
        const bool banded = bar.misfit.isEmpty() && bar.high > bar.low;
        if (banded) placed.band = {x(bar.low), middle, x(bar.high), middle};
        const double from = !bar.misfit.isEmpty() ? layout.zero
                            : banded              ? std::max(placed.band.x2(), layout.zero)
                                                  : placed.bar.right();
        placed.label = {from + gap, y, width - from - gap, kRow * line};
        layout.bars.push_back(placed);
        y += kRow * line;
    }
    layout.plot = QRectF(QPointF(left, gap), QPointF(right, y));
    layout.height = y + 1.5 * line + gap;

    const int most = std::max(2, static_cast<int>((right - left) / (kTickRoom * line)));
    const double tick = round_tick(range.most - range.least, most);
    for (int i = static_cast<int>(std::ceil(range.least / tick)); i * tick <= range.most; ++i)
        layout.ticks.push_back({x(i * tick), tick_text(i * tick, chart.percent)});
    return layout;
}

int bar_at(const BarLayout& layout, QPointF point) {
    for (std::size_t i = 0; i < layout.bars.size(); ++i)
        if (layout.bars[i].row.contains(point)) return static_cast<int>(i);
    return -1;
}

BarChart bar_chart_of(const SpeedBars& bars) {
    BarChart chart;
    chart.title = QString::fromStdString(bars.subtitle.empty() ? bars.title : bars.subtitle);
    // It has the colour of text, which may be white.
    chart.note = QString::fromStdString(bars.note).replace(QStringLiteral("Black line"),
                                                           QStringLiteral("Thin line"));
    for (const SpeedBarGroup& group : bars.groups) {
        const QString before = group.heading.empty()
                                   ? QString()
                                   : QString::fromStdString(group.heading) + QStringLiteral(": ");
        for (const SpeedBar& speed : group.bars) {
            Bar bar;
            bar.name = before + QString::fromStdString(speed.name);
            bar.value = speed.tokens_per_s;
            bar.low = speed.low;
            bar.high = speed.high;
            bar.label = QString::fromStdString(format_thousands(speed.tokens_per_s) + speed.beside);
            if (!speed.misfit.empty())
                bar.misfit =
                    QStringLiteral("does not fit: ") + QString::fromStdString(speed.misfit);
            const bool pointed_out = std::string_view(speed.fill) == kPointedOut;
            bar.colour = !speed.misfit.empty() ? BarColour::grey
                         : pointed_out         ? BarColour::pointed_out
                                               : BarColour::other;
            bar.tooltip = QString::fromStdString(speed.tooltip);
            chart.bars.push_back(std::move(bar));
        }
    }
    return chart;
}

}  // namespace sluice
