// Axes with round ticks, and names that cover nothing.
#include "sim/report/chart_parts.h"

#include <algorithm>
#include <cmath>

#include "sim/report/picture.h"
#include "tests/catch.h"

namespace sluice {
namespace {

std::string tick_name(double value) { return std::to_string(static_cast<int>(value)); }

std::vector<Words> words_of(const Picture& picture) {
    std::vector<Words> words;
    for (const Shape& shape : picture.shapes)
        if (const auto* one = std::get_if<Words>(&shape.form)) words.push_back(*one);
    return words;
}

}  // namespace

TEST_CASE("axis: on a logarithmic one equal ratios are equally far apart", "[report]") {
    const Axis axis = logarithmic_axis_around({100, 10'000});
    CHECK(axis.share(axis.low) == Approx(0));
    CHECK(axis.share(axis.high) == Approx(1));
    CHECK(axis.share(1000) == Approx(0.5));
    CHECK(axis.share(2000) - axis.share(1000) == Approx(axis.share(400) - axis.share(200)));
}

TEST_CASE("axis: a few round marks, whatever the range", "[report]") {
    CHECK(logarithmic_axis_around({100, 10'000}).ticks ==
          std::vector<double>{100, 200, 500, 1000, 2000, 5000, 10'000});
    for (const double most : {3.0, 3.1, 4.0, 9.9, 40.0, 4e3, 4e6, 4e9}) {
        const Axis axis = logarithmic_axis_around({3, most});
        INFO(most);
        CHECK(axis.ticks.size() >= 1);
        CHECK(axis.ticks.size() <= 12);
        CHECK(axis.ticks.front() >= axis.low);
        CHECK(axis.ticks.back() <= axis.high);
    }
    CHECK(linear_axis(-0.1, 0.3, 4).ticks.front() == Approx(-0.1));
    CHECK(linear_axis(-0.1, 0.3, 4).ticks.back() == Approx(0.3));
}

TEST_CASE("axis: from 0 for points with names, logarithmic beyond ten", "[report]") {
    const Axis near = axis_for_points({2, 4, 5}, 6);
    CHECK_FALSE(near.logarithmic);
    CHECK(near.low == 0);
    CHECK(near.high > 5);
    CHECK(near.ticks[1] == 1);
    const Axis far = axis_for_points({2, 80}, 6);
    CHECK(far.logarithmic);
    CHECK(far.low < 2);
    CHECK(far.high > 80);
    CHECK(axis_for_points({}, 6).ticks.empty());
}

TEST_CASE("axis: between values it is linear, and logarithmic beyond ten", "[report]") {
    const Axis linear = axis_between({100, 400, 250}, 6);
    CHECK_FALSE(linear.logarithmic);
    CHECK(linear.share(100) == 0);
    CHECK(linear.share(250) == 0.5);
    CHECK(linear.ticks == std::vector<double>{100, 150, 200, 250, 300, 350, 400});
    const Axis wide = axis_between({1, 100}, 6);
    CHECK(wide.logarithmic);
    CHECK(wide.share(10) == Approx(0.5));
    CHECK(wide.ticks.front() == 1);
    CHECK(wide.ticks.back() == 100);
    CHECK(axis_between({}, 6).ticks.empty());
    CHECK(axis_between({7}, 6).share(7) == 0.5);
    CHECK(axis_between({7}, 6).ticks == std::vector<double>{7});
}

TEST_CASE("axis: ticks are 1, 2 or 5 times a power of ten", "[report]") {
    CHECK(round_tick(2.34, 12) == Approx(0.2));
    CHECK(round_tick(85.8, 12) == Approx(10));
    CHECK(round_tick(55, 12) == Approx(5));
    CHECK(round_tick(12, 12) == Approx(1));
    CHECK(round_tick(0.0121, 12) == Approx(0.002));
}

TEST_CASE("axis: names of ticks do not touch", "[report]") {
    const Axis axis = logarithmic_axis_around({100, 10'000});
    Picture below, left;
    add_horizontal_axis(below, {0, 0, 160, 100}, axis, tick_name, 13);
    double end = -1e9;
    for (const Words& one : words_of(below)) {
        const double half = text_width(one.text, one.size) / 2;
        CHECK(one.at.x - half >= end);
        end = one.at.x + half;
    }
    CHECK(words_of(below).size() >= 2);
    CHECK(words_of(below).size() < axis.ticks.size());
    add_vertical_axis(left, {0, 0, 160, 40}, axis, tick_name, 13);
    double top = 1e9;
    for (const Words& one : words_of(left)) {
        CHECK(one.at.y <= top + 1e-9);
        top = one.at.y - 13;
    }
    CHECK(words_of(left).size() >= 2);
}

TEST_CASE("names of points cover neither each other nor points", "[report]") {
    const Box plot{0, 0, 400, 300};
    std::vector<LabelledPoint> points;
    for (int i = 0; i < 12; ++i) points.push_back({{150 + 12.0 * i, 150 - 7.0 * i}, 90, 14});
    points.push_back({{398, 2}, 90, 14});
    std::vector<Point> dots;
    for (const LabelledPoint& point : points) dots.push_back(point.point);
    const auto places = label_places(points, plot, 5, dots);
    REQUIRE(places.size() == points.size());
    REQUIRE(places[0]);
    REQUIRE(places.back());  // in the corner: to the left
    int placed = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) continue;
        ++placed;
        CHECK(plot.contains(*places[i]));
        for (const Point& dot : dots) CHECK_FALSE(places[i]->contains(dot));
        // Its own point is the nearest of those on any side of it.
        const auto off = [&](Point dot) {
            return std::hypot(dot.x - std::clamp(dot.x, places[i]->x, places[i]->right()),
                              dot.y - std::clamp(dot.y, places[i]->y, places[i]->bottom()));
        };
        for (const Point& dot : dots) CHECK(off(dot) >= off(dots[i]) - 1e-9);
        for (std::size_t j = 0; j < i; ++j)
            if (places[j]) CHECK_FALSE(places[i]->touches(*places[j]));
    }
    CHECK(placed >= 3);
    // A line where the first name would stand, above to the left.
    const Line line{{places[0]->x, places[0]->y}, {places[0]->right(), places[0]->bottom()}};
    const Point middle = places[0]->centre();
    const auto beside = label_places(points, plot, 5, dots, {line});
    REQUIRE(beside[0]);
    CHECK_FALSE(beside[0]->contains(middle));
    // Points without a name are not covered either.
    const auto around = label_places({points[0]}, plot, 5, {points[0].point, middle});
    REQUIRE(around[0]);
    CHECK_FALSE(around[0]->contains(middle));
    // In two lines where one has no place.
    const LabelledPoint wide{points[0].point, 2 * plot.width, 10, 20, 20};
    const auto folded = label_places({wide}, plot, 5, {});
    REQUIRE(folded[0]);
    CHECK(folded[0]->width == 20);
    CHECK(label_places({points[0]}, plot, 5, {})[0]->width == 90);
    // One that must be named covers a line rather than another point.
    LabelledPoint named = points[0];
    named.must_be_named = true;
    const Point above{named.point.x, named.point.y - 14};
    std::vector<Line> everywhere;
    for (double y = 0; y < plot.height; y += 5) everywhere.push_back({{0, y}, {plot.width, y}});
    const auto over = label_places({named}, plot, 5, {named.point, above}, everywhere);
    REQUIRE(over[0]);
    CHECK_FALSE(over[0]->contains(above));
}

}  // namespace sluice
