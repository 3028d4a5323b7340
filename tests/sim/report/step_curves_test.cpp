// Do curves lie where their values are?
#include "sim/report/step_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/format.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/sim/report/xml_nesting.h"

namespace sluice {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

StepCurves chart_of(std::vector<StepCurve> curves) {
    StepCurves chart;
    chart.title = "Loss";
    chart.curves = std::move(curves);
    chart.label = format_thousands;
    return chart;
}

/// The points of the lines in the colour of a curve.
std::vector<std::vector<Point>> lines_of(const Picture& picture, std::size_t curve) {
    std::vector<std::vector<Point>> out;
    for (const Shape& shape : picture.shapes)
        if (const auto* path = std::get_if<Path>(&shape.form);
            path && shape.stroke == series_paint(curve))
            out.push_back(path->points);
    return out;
}

}  // namespace

TEST_CASE("step curves: points lie in proportion to steps and values", "[report]") {
    const Picture picture =
        step_curves_picture(chart_of({{"loss", {{0, 10}, {50, 20}, {100, 30}}}}), {600});
    const auto lines = lines_of(picture, 0);
    REQUIRE(lines.size() == 1);
    const std::vector<Point>& line = lines.front();
    REQUIRE(line.size() == 3);
    CHECK(line[1].x - line[0].x == Approx(line[2].x - line[1].x));
    CHECK(line[0].y - line[1].y == Approx(line[1].y - line[2].y));
    CHECK(line[2].y < line[0].y);
    for (const Shape& shape : picture.shapes) {
        const Box box = box_of(shape);
        CHECK(box.x >= 0);
        CHECK(box.right() <= picture.width);
        CHECK(box.bottom() <= picture.height);
    }
    CHECK(nesting_error(to_svg(picture)) == std::nullopt);
}

TEST_CASE("step curves: a value that is not finite interrupts a line", "[report]") {
    const Picture picture = step_curves_picture(
        chart_of({{"loss", {{1, 3}, {2, 2}, {3, kNone}, {4, 1}, {5, 1}, {6, 1}}},
                  {"other", {{1, 5}, {6, 5}}}}));
    const auto lines = lines_of(picture, 0);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].size() == 2);
    CHECK(lines[1].size() == 3);
    CHECK(lines_of(picture, 1).size() == 1);
}

TEST_CASE("step curves: each level is a dashed line at its value", "[report]") {
    StepCurves chart = chart_of({{"speed", {{0, 10}, {50, 20}, {100, 30}}}});
    chart.levels = {10, 30};
    const Picture picture = step_curves_picture(chart);
    const std::vector<Point> points = lines_of(picture, 0).front();
    std::vector<double> heights;
    for (const Shape& shape : picture.shapes)
        if (shape.stroke == paint(Role::pointed_out)) heights.push_back(box_of(shape).y);
    REQUIRE(heights.size() == 2);
    CHECK(heights[0] == Approx(points.front().y));
    CHECK(heights[1] == Approx(points.back().y));
}

TEST_CASE("step curves: one point, equal values and none are drawn without an error", "[report]") {
    for (const std::vector<Point>& points :
         {std::vector<Point>{}, {{7, 2}}, {{1, 0}, {2, 0}}, {{1, kNone}}}) {
        StepCurves chart = chart_of({{"loss", points}});
        chart.logarithmic = true;
        chart.levels = {1};
        CHECK(nesting_error(to_svg(step_curves_picture(chart))) == std::nullopt);
    }
}

}  // namespace sluice
