#include "planner-gui/pictures/heat_map.h"

#include "planner-gui/pictures/heat_map_geometry.h"
#include "planner-gui/pictures/palette.h"
#include "tests/catch.h"
#include "tests/planner-gui/heat_map_example.h"

namespace sluice {

TEST_CASE("a heat map: values, best cell, scale of those that fit", "[pictures]") {
    const HeatMap map = example_map();
    CHECK(map.computed() == 5);
    CHECK(map.value({1, 0}, HeatQuantity::tokens_per_s) == 3000);
    CHECK_FALSE(map.value({2, 0}, HeatQuantity::tokens_per_s));  // does not fit
    CHECK_FALSE(map.value({2, 1}, HeatQuantity::host_memory));   // refused
    CHECK_FALSE(map.value({1, 1}, HeatQuantity::device_memory));
    CHECK(map.best(HeatQuantity::tokens_per_s) == CellIndex{1, 0});
    CHECK(map.best(HeatQuantity::host_memory) == CellIndex{0, 0});  // least
    CHECK(map.best(HeatQuantity::usd_per_million_tokens) == CellIndex{1, 0});
    CHECK(map.scale(HeatQuantity::tokens_per_s).low() == 1000);
    CHECK(map.scale(HeatQuantity::tokens_per_s).high() == 3000);
    CHECK_FALSE(HeatMap().best(HeatQuantity::tokens_per_s));
    const std::vector<VariedValue> settings = map.settings({1, 1});
    CHECK(settings[0].number.key == "batch");
    CHECK(settings[0].value == 16);
    CHECK(settings[1].value == 2048);
}

TEST_CASE("a heat map in words", "[pictures]") {
    const HeatMap map = example_map();
    CHECK(cell_place(map, {2, 1}) == QStringLiteral("batch 32, seq 2,048"));
    CHECK(cell_lines(map, {1, 0}, ByteUnits::decimal) ==
          QStringList({QStringLiteral("batch 16, seq 1,024"), QStringLiteral("fits"),
                       QStringLiteral("3,000 tokens/s, 2.00 s a step"),
                       QStringLiteral("device 20.0 GB, host 60.0 GB"),
                       QStringLiteral("$0.46 a million tokens"),
                       QStringLiteral("bound by GPU compute")}));
    CHECK(cell_lines(map, {2, 1}, ByteUnits::decimal).size() == 2);
    CHECK(cell_lines(map, {2, 0}, ByteUnits::decimal)[2].startsWith(QStringLiteral("if it did")));
    const auto captions = [&](CellIndex at) {
        return cell_captions(map, at, HeatQuantity::tokens_per_s, ByteUnits::decimal);
    };
    CHECK(captions({1, 0}).first() == QStringLiteral("3,000"));
    CHECK(captions({2, 0}).first() == QStringLiteral("host short 11.4 GB"));
    CHECK(captions({2, 1}).first() == QStringLiteral("refused"));
    CHECK(captions({1, 1}).first().isEmpty());
}

TEST_CASE("a heat map as CSV and SVG", "[pictures]") {
    const HeatMap map = example_map();
    const QStringList lines = heat_map_csv(map).split(QLatin1Char('\n'));
    REQUIRE(lines.size() == 8);  // header, six cells, the end
    CHECK(lines[0].startsWith(QStringLiteral("batch,seq,state,tokens_per_s,")));
    CHECK(
        lines[2].startsWith(QStringLiteral("16,1024,fits,3000,2,20000000000,60000000000,0,0,0,")));
    CHECK(lines[6].startsWith(QStringLiteral("32,2048,refused,,,,,,,,,")));
    CHECK(
        lines[6].endsWith(QStringLiteral("\"--batch is 32, expected a multiple of --micro-batch "
                                         "(3)\"")));
    const auto columns = lines[0].count(QLatin1Char(','));
    CHECK(lines[1].count(QLatin1Char(',')) == columns);
    CHECK(lines[5].count(QLatin1Char(',')) == columns);
    const std::string svg =
        heat_map_svg(map, HeatQuantity::tokens_per_s, "a <title>", ByteUnits::decimal);
    CHECK_THAT(svg, ContainsSubstring("a &lt;title&gt;"));
    CHECK_THAT(svg, ContainsSubstring(">3,000<"));
    CHECK_THAT(svg, ContainsSubstring(Palette::scale(1).name().toStdString()));
    CHECK_THAT(svg, ContainsSubstring("url(#hatch)"));
}

TEST_CASE("a heat map's cells: low values left and below, found under the mouse", "[pictures]") {
    const HeatMap map = example_map();
    const HeatMapGeometry geometry(map, {1200, 700}, {16, 50, 40, 90});
    CHECK(geometry.cell({0, 0}).bottom() == Approx(geometry.plot().bottom()));
    CHECK(geometry.cell({0, 0}).left() == Approx(geometry.plot().left()));
    CHECK(geometry.cell({2, 1}).top() == Approx(geometry.plot().top()));
    CHECK(geometry.cell({2, 1}).right() == Approx(geometry.plot().right()));
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x) {
            const QRectF cell = geometry.cell({x, y});
            CHECK(geometry.at(cell.center()) == CellIndex{x, y});
            CHECK(geometry.at(cell.topLeft() + QPointF(1, 1)) == CellIndex{x, y});
        }
    CHECK_FALSE(geometry.at({2, 2}));
    CHECK_FALSE(geometry.at(geometry.legend().center()));
    CHECK(geometry.legend().left() > geometry.plot().right());
    CHECK(geometry.legend().right() + 90 < 1200);
    CHECK(geometry.legend_y(1) == Approx(geometry.legend().top()));
    CHECK(geometry.key_swatch(kHeatMapKeys - 1).bottom() <= 700);
    CHECK(geometry.row_label(0).left() >= 0);
}

TEST_CASE("narrow columns have fewer labels", "[pictures]") {
    const HeatMap map({example_option("seq"), {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}},
                      {example_option("batch"), {1, 2}});
    CHECK(HeatMapGeometry(map, {1600, 700}, {16, 50, 60, 90}).column_step() == 1);
    const HeatMapGeometry narrow(map, {520, 300}, {16, 50, 60, 90});
    CHECK(narrow.column_step() > 1);
    CHECK_FALSE(narrow.column_label(0).intersects(narrow.column_label(narrow.column_step())));
}

TEST_CASE("keys move the selection within the map", "[pictures]") {
    const HeatMap map = example_map();
    CHECK(moved(map, {0, 0}, Qt::Key_Right) == CellIndex{1, 0});
    CHECK(moved(map, {0, 0}, Qt::Key_Up) == CellIndex{0, 1});
    CHECK(moved(map, {0, 0}, Qt::Key_Left) == CellIndex{0, 0});
    CHECK(moved(map, {0, 1}, Qt::Key_End) == CellIndex{2, 1});
    CHECK_FALSE(moved(map, {0, 0}, Qt::Key_A));
}

}  // namespace sluice
