#include "planner-gui/pictures/pareto.h"

#include <QAbstractItemModelTester>

#include "planner-gui/models/table_model.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/planner-gui/pareto_example.h"

namespace sluice {

TEST_CASE("the front of cost and speed", "[pictures]") {
    const std::vector<MachineSystem> rows = example_rows();
    CHECK(on_front(rows, CostAxis::usd_per_hour) ==
          std::vector<bool>{true, false, false, true, false, false});
    // A million tokens cost $0.28 with fast, $0.56 with slow.
    CHECK(on_front(rows, CostAxis::usd_per_million_tokens) ==
          std::vector<bool>{true, false, false, false, false, false});
    CHECK(by_cost(rows, CostAxis::usd_per_hour) == std::vector<std::size_t>{3, 0, 1});
    CHECK(on_front({}, CostAxis::usd_per_hour).empty());
}

TEST_CASE("the cheapest that is fast enough", "[pictures]") {
    const std::vector<MachineSystem> rows = example_rows();
    constexpr CostAxis kAnHour = CostAxis::usd_per_hour;
    CHECK(cheapest_at(rows, kAnHour, 0) == std::size_t{3});
    CHECK(cheapest_at(rows, kAnHour, 1500) == std::size_t{0});
    CHECK(cheapest_at(rows, CostAxis::usd_per_million_tokens, 0) == std::size_t{0});
    CHECK(!cheapest_at(rows, kAnHour, 5000));
    CHECK(cheapest_words(rows, 0) ==
          QStringLiteral(
              "The least $ per million tokens: fast with streamed: 4,000 tokens/s, $4.00 an "
              "hour, $0.28 a million tokens\n"
              "The least $ an hour: slow with streamed: 1,000 tokens/s, $2.00 an hour, "
              "$0.56 a million tokens"));
    CHECK(cheapest_words(rows, 1500) ==
          QStringLiteral(
              "At 1,500 tokens/s or more, the least $ per million tokens and an hour: fast "
              "with streamed: 4,000 tokens/s, $4.00 an hour, $0.28 a million tokens"));
    CHECK(
        cheapest_words(rows, 50'000)
            .startsWith(QStringLiteral("None reaches 50,000 tokens/s; the fastest is fast with ")));
    CHECK(cheapest_words({}, 0).isEmpty());
}

TEST_CASE("axes of cost and speed", "[pictures]") {
    const auto plot = [](const std::vector<MachineSystem>& rows) {
        return cost_speed(rows, CostAxis::usd_per_hour, ByteUnits::decimal);
    };
    const Axis near = cost_axis(plot(example_rows()));
    CHECK_FALSE(near.logarithmic);
    CHECK(near.low == 0);
    CHECK(near.high > 5);
    CHECK(near.ticks[1] == 1);
    std::vector<MachineSystem> rows = example_rows();
    rows.push_back(example_row("huge", 90'000, 80));
    const Axis far = cost_axis(plot(rows));
    CHECK(far.logarithmic);
    CHECK(far.low < 2);
    CHECK(far.high > 80);
    const Axis speed = speed_axis(plot(rows));
    CHECK(speed.low <= 800);  // the band's low end: 1000 / 1.25
    CHECK(speed.high >= 90'000 / 0.9);
    CHECK(speed.ticks.size() >= 2);
    CHECK(speed_axis(plot({})).ticks.empty());
}

TEST_CASE("cost and speed in words, CSV and SVG", "[pictures]") {
    const std::vector<MachineSystem> rows = example_rows();
    const auto first_point = [](const std::vector<MachineSystem>& of) {
        return cost_speed(of, CostAxis::usd_per_hour, ByteUnits::decimal).points.back();
    };
    CHECK(first_point(rows).name == "beaten");
    CHECK(first_point(rows).second.empty());
    std::vector<MachineSystem> two = rows;
    two.push_back(example_row("fast", 3000, 4, "megatrain"));
    CHECK(first_point(two).second == "streamed");
    CHECK(band_text(rows[0]) == QStringLiteral("3,200 to 4,444"));
    const QStringList lines = row_lines(rows[0], ByteUnits::decimal);
    CHECK(lines[1] == QStringLiteral("4,000 tokens/s (5 to 95%: 3,200 to 4,444)"));
    CHECK(lines[3] == QStringLiteral("$4.00 an hour (a cloud, rented), $0.28 a million tokens"));
    CHECK(row_lines(rows[5], ByteUnits::decimal).size() == 2);
    const QStringList csv = QString::fromStdString(to_csv(pareto_table(rows, CostAxis::usd_per_hour,
                                                                       ByteUnits::decimal)))
                                .split(QLatin1Char('\n'));
    REQUIRE(csv.size() == 8);
    CHECK(csv[1].startsWith(QStringLiteral("fast,streamed,yes,4000,3200,")));
    for (int i = 1; i < 7; ++i) {
        const bool quoted = csv[i].contains(QLatin1Char('"'));
        if (!quoted) CHECK(csv[i].count(QLatin1Char(',')) == csv[0].count(QLatin1Char(',')));
    }
    CHECK(csv[6].startsWith(QStringLiteral("odd,streamed,not possible,,,,")));
    CHECK(csv[6].contains(QStringLiteral(",,no,no,")));
    const auto picture = [](const std::vector<MachineSystem>& of) {
        return pareto_picture(of, CostAxis::usd_per_hour, ByteUnits::decimal, {1000, 620});
    };
    const std::string svg = to_svg(picture(rows));
    CHECK_THAT(svg, ContainsSubstring("2,000 tokens/s (5 to 95%: 1,600 to 2,222)"));
    CHECK(svg.find("unpriced") == std::string::npos);
    CHECK(picture({}).shapes.empty());
}

TEST_CASE("machines and systems as a table that grows", "[pictures]") {
    TableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto text = [&](int row, const char* column) {
        return model.index(row, model.columnOf(column)).data().toString();
    };
    const auto set = [&](const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units) {
        model.setTable(pareto_table(rows, axis, units), units);
    };
    set({example_row("beaten", 2000, 5)}, CostAxis::usd_per_hour, ByteUnits::decimal);
    CHECK(text(0, "outcome") == QStringLiteral("best at its price"));
    const std::vector<MachineSystem> rows = example_rows();
    set(rows, CostAxis::usd_per_hour, ByteUnits::decimal);
    CHECK(text(0, "outcome") == QStringLiteral("best at its price"));
    CHECK(text(1, "outcome") == QStringLiteral("not the best"));
    CHECK(text(2, "outcome").startsWith(QStringLiteral("does not fit: host needs 100.0 GB")));
    set(rows, CostAxis::usd_per_hour, ByteUnits::binary);
    CHECK(text(2, "outcome").startsWith(QStringLiteral("does not fit: host needs 93.1 GiB")));
    CHECK(text(0, "tokens_per_s_{}_percent") == QStringLiteral("3,200 to 4,444"));
    CHECK(text(4, "outcome") == QStringLiteral("no price is known for this machine"));
    CHECK(text(5, "outcome").startsWith(QStringLiteral("not possible: ")));
    CHECK(text(3, "outcome") == QStringLiteral("best at its price"));
    set(rows, CostAxis::usd_per_million_tokens, ByteUnits::decimal);
    CHECK(text(3, "outcome") == QStringLiteral("not the best"));
}

TEST_CASE("rows that are not in the picture are sorted behind the others", "[pictures]") {
    TableModel model;
    model.setTable(pareto_table(example_rows(), CostAxis::usd_per_hour, ByteUnits::decimal));
    NumberSortProxy sorted;
    const QAbstractItemModelTester tester(&sorted,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    sorted.setSourceModel(&model);
    sorted.sort(model.columnOf("usd_per_hour"));
    QStringList machines;
    for (int i = 0; i < sorted.rowCount(); ++i)
        machines << sorted.index(i, model.columnOf("machine")).data().toString();
    CHECK(machines == QStringList({QStringLiteral("slow"), QStringLiteral("fast"),
                                   QStringLiteral("beaten"), QStringLiteral("small"),
                                   QStringLiteral("unpriced"), QStringLiteral("odd")}));
}

}  // namespace sluice
