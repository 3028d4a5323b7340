#include "planner-gui/pictures/pareto.h"

#include <algorithm>

#include "planner-gui/pictures/label_places.h"
#include "tests/catch.h"
#include "tests/planner-gui/pareto_example.h"

namespace sluice {

TEST_CASE("the front of cost and speed", "[pictures]") {
    const std::vector<ParetoRow> rows = example_rows();
    CHECK(on_front(rows, CostAxis::usd_per_hour) ==
          std::vector<bool>{true, false, false, true, false, false});
    // Of $ per million tokens fast costs 0.28, slow 0.56.
    CHECK(on_front(rows, CostAxis::usd_per_million_tokens) ==
          std::vector<bool>{true, false, false, false, false, false});
    CHECK(by_cost(rows, CostAxis::usd_per_hour) == std::vector<std::size_t>{3, 0, 1});
    CHECK(on_front({}, CostAxis::usd_per_hour).empty());
}

TEST_CASE("the cheapest that is fast enough", "[pictures]") {
    const std::vector<ParetoRow> rows = example_rows();
    constexpr CostAxis kHour = CostAxis::usd_per_hour;
    CHECK(cheapest_at(rows, kHour, 0) == std::size_t{3});
    CHECK(cheapest_at(rows, kHour, 1500) == std::size_t{0});
    CHECK(cheapest_at(rows, CostAxis::usd_per_million_tokens, 0) == std::size_t{0});
    CHECK(!cheapest_at(rows, kHour, 5000));
    CHECK(cheapest_words(rows, 0) ==
          QStringLiteral("Least $ per million tokens: fast with streamed: 4,000 tokens/s, $4.00 an "
                         "hour, $0.28 a million tokens\n"
                         "Least $ an hour: slow with streamed: 1,000 tokens/s, $2.00 an hour, "
                         "$0.56 a million tokens"));
    CHECK(cheapest_words(rows, 1500) ==
          QStringLiteral("At 1,500 tokens/s or more, least $ per million tokens and an hour: fast "
                         "with streamed: 4,000 tokens/s, $4.00 an hour, $0.28 a million tokens"));
    CHECK(
        cheapest_words(rows, 50'000)
            .startsWith(QStringLiteral("None reaches 50,000 tokens/s; the fastest is fast with ")));
    CHECK(cheapest_words({}, 0).isEmpty());
    const QString hint = QStringLiteral("Each is one GPU");
    CHECK(cheapest_words(rows, 50'000).contains(hint));
    std::vector<ParetoRow> with_cluster = rows;
    with_cluster.back().system = "cluster";
    CHECK(!cheapest_words(with_cluster, 50'000).contains(hint));
}

TEST_CASE("axes of cost and speed", "[pictures]") {
    const PlotAxis near = cost_axis(example_rows(), CostAxis::usd_per_hour);
    CHECK_FALSE(near.logarithmic);
    CHECK(near.low == 0);
    CHECK(near.high > 5);
    CHECK(near.ticks[1].label == QStringLiteral("$1"));
    std::vector<ParetoRow> rows = example_rows();
    rows.push_back(example_row("huge", 90'000, 80));
    const PlotAxis far = cost_axis(rows, CostAxis::usd_per_hour);
    CHECK(far.logarithmic);
    CHECK(far.low < 2);
    CHECK(far.high > 80);
    CHECK(far.position(100) == Approx(2));
    const PlotAxis speed = speed_axis(rows);
    CHECK(speed.low <= 800);  // the band's low end: 1000 / 1.25
    CHECK(speed.high >= 90'000 / 0.9);
    CHECK(speed.ticks.size() >= 2);
    CHECK(speed_axis({}).ticks.empty());
}

TEST_CASE("cost and speed in words, CSV and SVG", "[pictures]") {
    const std::vector<ParetoRow> rows = example_rows();
    CHECK(row_names(rows)[0] == "fast");
    std::vector<ParetoRow> two = rows;
    two.push_back(example_row("fast", 3000, 4, "megatrain"));
    CHECK(row_names(two)[0] == "fast, streamed");
    CHECK(band_text(rows[0]) == QStringLiteral("3,200 to 4,444"));
    const QStringList lines = row_lines(rows[0], ByteUnits::decimal);
    CHECK(lines[1] == QStringLiteral("4,000 tokens/s (5 to 95%: 3,200 to 4,444)"));
    CHECK(lines[3] == QStringLiteral("$4.00 an hour (a cloud, rented), $0.28 a million tokens"));
    CHECK(row_lines(rows[5], ByteUnits::decimal).size() == 2);
    const QStringList csv = pareto_csv(rows).split(QLatin1Char('\n'));
    REQUIRE(csv.size() == 8);
    CHECK(csv[1].startsWith(QStringLiteral("fast,streamed,yes,4000,3200,")));
    for (int i = 1; i < 7; ++i) {
        const bool quoted = csv[i].contains(QLatin1Char('"'));
        if (!quoted) CHECK(csv[i].count(QLatin1Char(',')) == csv[0].count(QLatin1Char(',')));
    }
    CHECK(csv[6].startsWith(QStringLiteral("odd,streamed,refused,,,,,,,,no,no,")));
    const std::string svg = pareto_svg(rows, CostAxis::usd_per_hour);
    CHECK_THAT(svg, ContainsSubstring("2,000 tokens/s (5 to 95%: 1,600 to 2,222)"));
    CHECK(svg.find("unpriced") == std::string::npos);
    CHECK_THAT(pareto_svg({}, CostAxis::usd_per_hour), ContainsSubstring("<svg"));
}

TEST_CASE("names of points cover neither each other nor points", "[pictures]") {
    const QRectF plot(0, 0, 400, 300);
    std::vector<LabelledPoint> points;
    for (int i = 0; i < 12; ++i)
        points.push_back({QPointF(150 + 12.0 * i, 150 - 7.0 * i), QSizeF(90, 14)});
    points.push_back({QPointF(398, 2), QSizeF(90, 14)});
    std::vector<QPointF> dots;
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
        for (const LabelledPoint& point : points) CHECK_FALSE(places[i]->contains(point.point));
        // Its own point is the nearest of those on any side of it.
        const auto off = [&](QPointF dot) {
            const QPointF nearest(std::clamp(dot.x(), places[i]->left(), places[i]->right()),
                                  std::clamp(dot.y(), places[i]->top(), places[i]->bottom()));
            return QLineF(nearest, dot).length();
        };
        for (const QPointF& dot : dots) CHECK(off(dot) >= off(dots[i]) - 1e-9);
        for (std::size_t j = 0; j < i; ++j)
            if (places[j]) CHECK_FALSE(places[i]->intersects(*places[j]));
    }
    CHECK(placed >= 3);
    // A line where the first name would stand, above to the left.
    const QLineF line(places[0]->topLeft(), places[0]->bottomRight());
    const auto beside = label_places(points, plot, 5, dots, {line});
    REQUIRE(beside[0]);
    CHECK_FALSE(beside[0]->contains(line.center()));
    // Rows without a name are not covered either.
    const auto around = label_places({points[0]}, plot, 5, {points[0].point, line.center()});
    REQUIRE(around[0]);
    CHECK_FALSE(around[0]->contains(line.center()));
    // In two lines where one has no place.
    const LabelledPoint wide{points[0].point, {2 * plot.width(), 10}, {20, 20}};
    const auto folded = label_places({wide}, plot, 5, {});
    REQUIRE(folded[0]);
    CHECK(folded[0]->size() == wide.folded);
    CHECK(label_places({points[0]}, plot, 5, {})[0]->size() == points[0].label);
    CHECK(nearest_point({{0, 0}, {10, 0}}, {7, 0}, 5) == 1);
    CHECK_FALSE(nearest_point({{0, 0}, {10, 0}}, {5, 20}, 5));
}

}  // namespace sluice
