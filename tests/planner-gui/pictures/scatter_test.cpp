#include "planner-gui/pictures/scatter.h"

#include <QFont>

#include "tests/catch.h"
#include "tests/sim/answers/validate/made_runs.h"

namespace sluice {
namespace {

Validation made() {
    Validation validation;
    validation.machine_id = "box";
    validation.runs = {made_run("exact", "look", 1, 1), made_run("slow", "look", 10, 12.5),
                       made_run("fast", "held-out", 0.1, 0.08)};
    validation.summaries = summarize(validation.runs);
    return validation;
}

}  // namespace

TEST_CASE("scatter: an exact prediction lies on the diagonal, others on their side of it",
          "[pictures]") {
    const Validation validation = made();
    const QRectF area(0, 0, 700, 500);
    const ScatterLayout layout = place_scatter(validation, area, QFontMetricsF{QFont()});
    CHECK(area.contains(layout.plot));
    REQUIRE(layout.points.size() == 3);
    const auto off = [&](int point) {
        const QPointF at = layout.points[static_cast<std::size_t>(point)].at;
        return (layout.plot.bottom() - at.y()) / layout.plot.height() -
               (at.x() - layout.plot.left()) / layout.plot.width();
    };
    CHECK(off(0) == Approx(0).margin(1e-6));
    CHECK(off(1) < -0.01);  // predicted slower than measured: below
    CHECK(off(2) > 0.01);
    // Groups in the order of the runs.
    CHECK(layout.points[0].group == 0);
    CHECK(layout.points[2].group == 1);
    CHECK(layout.above.y1() < layout.below.y1());
}

TEST_CASE("scatter: the nearest point is hit, far from all none", "[pictures]") {
    const ScatterLayout layout =
        place_scatter(made(), QRectF(0, 0, 700, 500), QFontMetricsF{QFont()});
    for (const ScatterPoint& point : layout.points)
        CHECK(run_at(layout, point.at + QPointF(layout.radius, 0)) == point.run);
    CHECK(run_at(layout, layout.plot.topLeft()) == -1);
}

TEST_CASE("scatter: one run, and no room, are no mistake", "[pictures]") {
    Validation one = made();
    one.runs.resize(1);
    one.summaries = summarize(one.runs);
    CHECK(place_scatter(one, QRectF(0, 0, 3, 3), QFontMetricsF{QFont()}).points.size() == 1);
    CHECK(validation_sentence(one) ==
          QStringLiteral("box: 1 run; tokens/s off in the mean by 0.0%, most +0.0% (exact)."));
}

TEST_CASE("scatter: several groups are each said with their own error", "[pictures]") {
    CHECK(validation_sentence(made()).endsWith(QStringLiteral(
        " Tokens/s in the mean by group: look 10.0% (2 runs), held-out 25.0% (1 run).")));
}

TEST_CASE("scatter: names of ticks on an axis do not touch", "[pictures]") {
    const QFontMetricsF font{QFont()};
    const ScatterLayout layout = place_scatter(made(), QRectF(0, 0, 160, 160), font);
    double end = -1e9;
    int named = 0;
    for (const ScatterTick& tick : layout.ticks) {
        if (!tick.named_below) continue;
        ++named;
        const double half = font.horizontalAdvance(tick.text) / 2;
        CHECK(tick.x - half >= end);
        end = tick.x + half;
    }
    CHECK(named >= 1);
    const ScatterLayout low = place_scatter(made(), QRectF(0, 0, 400, 90), font);
    double top = 1e9;
    for (const ScatterTick& tick : low.ticks) {
        if (!tick.named_left) continue;
        CHECK(tick.y + font.height() / 2 <= top);
        top = tick.y - font.height() / 2;
    }
    CHECK(top < 1e9);
}

}  // namespace sluice
