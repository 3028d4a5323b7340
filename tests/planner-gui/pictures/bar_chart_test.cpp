#include "planner-gui/pictures/bar_chart.h"

#include <QFont>

#include "planner-gui/pictures/tornado.h"
#include "tests/catch.h"
#include "tests/sim/answers/compare/made_comparison.h"

namespace sluice {
namespace {

Bar bar(const char* name, double value, double low, double high) {
    Bar out;
    out.name = QLatin1StringView(name);
    out.value = value;
    out.low = low;
    out.high = high;
    out.label = QString::number(value);
    return out;
}

}  // namespace

TEST_CASE("bars: lengths are proportional to values, bands lie at their ends", "[pictures]") {
    const QFontMetricsF font{QFont()};
    BarChart chart;
    chart.bars = {bar("one", 100, 80, 120), bar("two", 50, 50, 50)};
    const BarLayout layout = place_bars(chart, 800, font);
    REQUIRE(layout.bars.size() == 2);
    CHECK(layout.bars[0].bar.left() == Approx(layout.zero));
    CHECK(layout.bars[0].bar.width() == Approx(2 * layout.bars[1].bar.width()));
    CHECK(layout.bars[0].band.dx() == Approx(0.4 * layout.bars[0].bar.width()));
    CHECK(layout.bars[1].band.isNull());
    // Everything is within the width, the longest bar's label too.
    CHECK(layout.plot.left() >= font.horizontalAdvance(QStringLiteral("two")));
    CHECK(layout.bars[0].label.left() + font.horizontalAdvance(chart.bars[0].label) <= 800);
    CHECK(layout.bars[1].row.bottom() <= layout.height);
    for (const BarTick& tick : layout.ticks) {
        CHECK(tick.x >= layout.plot.left() - 0.01);
        CHECK(tick.x <= layout.plot.right() + 0.01);
    }
    CHECK(bar_at(layout, layout.bars[1].row.center()) == 1);
    CHECK(bar_at(layout, QPointF(10, layout.height)) == -1);
}

TEST_CASE("bars: a loss lies to the left of 0; no bars, narrow width and no gain are no mistake",
          "[pictures]") {
    const QFontMetricsF font{QFont()};
    BarChart chart;
    chart.percent = true;
    chart.bars = {bar("gain", 0.3, 0.2, 0.4), bar("loss", -0.1, -0.2, -0.05)};
    const BarLayout layout = place_bars(chart, 600, font);
    CHECK(layout.bars[1].bar.right() == Approx(layout.zero));
    CHECK(layout.bars[1].bar.left() < layout.zero);
    CHECK(layout.bars[1].band.x1() == Approx(layout.plot.left()));
    CHECK(place_bars({}, 600, font).bars.empty());
    CHECK(place_bars(chart, 1, font).bars.size() == 2);
    chart.bars = {bar("nothing", 0, 0, 0)};
    CHECK(place_bars(chart, 600, font).bars[0].bar.width() == Approx(0).margin(1e-9));
}

TEST_CASE("bars: those of a comparison keep labels, colours and why a system does not fit",
          "[pictures]") {
    SpeedBars bars;
    bars.note = "Black line: nine of ten steps.";
    bars.groups = {{"4 layers",
                    {{"streamed", 1000, 900, 1100, " (1.00x)", "", kPointedOut, "tip"},
                     {"resident", 3000, 0, 0, "", "device short 10.0 GB", kOtherBar, ""}}}};
    const BarChart chart = bar_chart_of(bars);
    REQUIRE(chart.bars.size() == 2);
    CHECK(chart.note == QStringLiteral("Thin line: nine of ten steps."));
    CHECK(chart.bars[0].name == QStringLiteral("4 layers: streamed"));
    CHECK(chart.bars[0].label == QStringLiteral("1,000 (1.00x)"));
    CHECK(chart.bars[0].colour == BarColour::pointed_out);
    CHECK(chart.bars[1].colour == BarColour::grey);
    CHECK(chart.bars[1].misfit == QStringLiteral("does not fit: device short 10.0 GB"));
}

TEST_CASE("tornado: a bar an upgrade, grey where the gain is not sure", "[pictures]") {
    Sensitivity all;
    all.base = made_system(Schedule("streamed"), 1000).report;
    Upgrade sure, unsure;
    sure.name = "link";
    sure.report = made_system(Schedule("streamed"), 1200).report;
    sure.report.step.critical_shares = {};
    sure.report.step.critical_shares[static_cast<std::size_t>(Lane::compute)] = 1;
    sure.gain = 0.2;
    sure.gain_low = 0.1;
    sure.gain_high = 0.3;
    unsure = sure;
    unsure.name = "cores";
    unsure.gain = -0.0001;
    unsure.gain_low = -0.01;
    all.upgrades = {sure, unsure};
    const BarChart chart = tornado_chart(all);
    REQUIRE(chart.bars.size() == 2);
    CHECK(chart.percent);
    CHECK(chart.bars[0].colour == BarColour::pointed_out);
    CHECK(chart.bars[0].label == QStringLiteral("+20.0% (GPU compute)"));
    CHECK(chart.bars[1].colour == BarColour::grey);
    CHECK(chart.bars[1].label.startsWith(QStringLiteral("+0.0%")));
    CHECK(sensitivity_sentence(all) ==
          QStringLiteral("1,000 tokens/s, bound by the optimizer. Most is gained by link: +20.0%, "
                         "then bound by GPU compute."));
    all.upgrades = {unsure};
    CHECK(sensitivity_sentence(all).endsWith(QStringLiteral("None of the changes tried gains.")));
}

}  // namespace sluice
