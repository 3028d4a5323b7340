// Where do horizontal bars with their bands lie: tokens/s of systems, gains of upgrades?
#pragma once

#include <QFontMetricsF>
#include <QLineF>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <vector>

#include "sim/report/compare/speed_bars.h"

namespace sluice {

enum class BarColour : std::uint8_t { pointed_out, other, grey };

struct Bar {
    QString name;
    double value = 0;
    double low = 0, high = 0;  ///< ends of its band; the same: none
    QString label;             ///< behind the bar
    QString misfit;            ///< why it does not fit, in place of the label; empty: it does
    BarColour colour = BarColour::other;
    QString tooltip;
};

struct BarChart {
    QString title, note;
    std::vector<Bar> bars;
    bool percent = false;  ///< values are shares: 0.1 is a tenth
};

/// Pixels.
struct PlacedBar {
    QRectF row;    ///< as wide as the chart
    QRectF name;   ///< for its text, to the right end
    QRectF bar;    ///< from 0 to the value
    QLineF band;   ///< from low to high in the middle of the bar; null: none
    QRectF label;  ///< for its text, from the left end
};

struct BarTick {
    double x = 0;
    QString text;
};

struct BarLayout {
    std::vector<PlacedBar> bars;
    std::vector<BarTick> ticks;
    QRectF plot;      ///< the rows between the ends of the axis
    double zero = 0;  ///< x of value 0
    double height = 0;
};

/// A row a bar, one below the other; names at the left take at most 40% of the width, and are as
/// wide as the widest of them otherwise. Behind the longest bar there is room for its label.
BarLayout place_bars(const BarChart& chart, double width, const QFontMetricsF& font);

/// The bar in whose row a point lies; -1: none.
int bar_at(const BarLayout& layout, QPointF point);

/// The bars of all groups; a heading is said before the name.
BarChart bar_chart_of(const SpeedBars& bars);

}  // namespace sluice
