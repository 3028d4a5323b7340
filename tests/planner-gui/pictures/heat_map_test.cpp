#include "planner-gui/pictures/heat_map.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/planner-gui/heat_map_example.h"

namespace sluice {
namespace {

Picture picture_of(const HeatMap& map, const PictureSpace& space) {
    return heat_map_picture(map, HeatQuantity::tokens_per_s, "a <title>", ByteUnits::decimal,
                            space);
}

}  // namespace

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
    CHECK(map.scale(HeatQuantity::tokens_per_s).low == 1000);
    CHECK(map.scale(HeatQuantity::tokens_per_s).high == 3000);
    CHECK_FALSE(HeatMap().best(HeatQuantity::tokens_per_s));
    const std::vector<VariedValue> settings = map.values({1, 1});
    CHECK(settings[0].number.key == "batch");
    CHECK(settings[0].value == 16);
    CHECK(settings[1].value == 2048);
}

TEST_CASE("a heat map in words", "[pictures]") {
    const HeatMap map = example_map();
    CHECK(cell_place(map, {2, 1}) == QStringLiteral("Batch 32, Sequence 2,048"));
    CHECK(cell_lines(map, {1, 0}, ByteUnits::decimal) ==
          QStringList({QStringLiteral("Batch 16, Sequence 1,024"), QStringLiteral("fits"),
                       QStringLiteral("3,000 tokens/s, 2.00 s a step"),
                       QStringLiteral("device 20.0 GB, host 60.0 GB"),
                       QStringLiteral("$0.46 a million tokens"),
                       QStringLiteral("bound by GPU compute")}));
    CHECK(cell_lines(map, {2, 1}, ByteUnits::decimal).size() == 2);
    CHECK(cell_lines(map, {2, 0}, ByteUnits::decimal)[2].startsWith(
        QStringLiteral("without the memory limit")));
    const auto captions = [&](CellIndex at) {
        return cell_captions(map, at, HeatQuantity::tokens_per_s, ByteUnits::decimal);
    };
    CHECK(captions({1, 0}).first() == QStringLiteral("3,000"));
    CHECK(captions({2, 0}).first() == QStringLiteral("host short 11.4 GB"));
    CHECK(captions({2, 1}).first() == QStringLiteral("not possible"));
    CHECK(captions({1, 1}).first().isEmpty());
}

TEST_CASE("a heat map as CSV and SVG", "[pictures]") {
    const HeatMap map = example_map();
    const QStringList lines =
        QString::fromStdString(to_csv(heat_map_table(map, ByteUnits::decimal)))
            .split(QLatin1Char('\n'));
    REQUIRE(lines.size() == 8);  // header, six cells, the end
    CHECK(lines[0].startsWith(QStringLiteral("batch,seq,state,tokens_per_s,")));
    CHECK(
        lines[2].startsWith(QStringLiteral("16,1024,fits,3000,2,20000000000,60000000000,0,0,0,")));
    CHECK(lines[6].startsWith(QStringLiteral("32,2048,not possible,,,,,,,,,")));
    CHECK(lines[6].endsWith(
        QStringLiteral("\"\"\"Batch\"\" is 32, expected a multiple of \"\"Micro batch\"\" (3)\"")));
    const auto columns = lines[0].count(QLatin1Char(','));
    CHECK(lines[1].count(QLatin1Char(',')) == columns);
    CHECK(lines[5].count(QLatin1Char(',')) == columns);
    const Picture picture = picture_of(map, {1200, 700});
    const std::string svg = to_svg(picture);
    CHECK_THAT(svg, ContainsSubstring("a &lt;title&gt;"));
    CHECK_THAT(svg, ContainsSubstring(">3,000<"));
    CHECK_THAT(svg, ContainsSubstring(hex(light_colours().of(scale_paint(1)))));
    CHECK(std::ranges::count_if(picture.shapes, [](const Shape& shape) {
              return std::holds_alternative<Hatching>(shape.form);
          }) == 2);  // the cell and the key
}

TEST_CASE("a heat map's cells: low values left and below, found under the mouse", "[pictures]") {
    const HeatMap map = example_map();
    const Picture picture = picture_of(map, {1200, 700});
    const auto cell = [&](CellIndex at) { return *place_of(picture, id_of(map, at)); };
    CHECK(cell({1, 0}).x > cell({0, 0}).x);
    CHECK(cell({0, 1}).y < cell({0, 0}).y);
    CHECK(cell({0, 0}).width == Approx(cell({2, 1}).width));
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x) {
            const Box box = cell({x, y});
            CHECK(cell_of(map, id_at(picture, box.centre())) == CellIndex{x, y});
            CHECK(cell_of(map, id_at(picture, {box.x + 1, box.y + 1})) == CellIndex{x, y});
            CHECK(Box{0, 0, 1200, 700}.contains(box));
        }
    CHECK(id_at(picture, {2, 2}) == kNoId);
    for (const Shape& shape : picture.shapes) {
        const Box box = box_of(shape);
        CHECK((box.x >= 0 && box.right() <= 1200 && box.bottom() <= 700));
    }
    // Keys go row by row, the topmost first.
    CHECK(picture.keys.ids == std::vector<int>{3, 4, 5, 0, 1, 2});
    CHECK(picture.keys.columns == 3);
}

TEST_CASE("narrow columns have fewer labels", "[pictures]") {
    const HeatMap map({example_option("seq"), {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}},
                      {example_option("batch"), {1, 2}}, PointSettings::given);
    const auto says = [&](double width, const char* label) {
        const Picture picture = picture_of(map, {width, 300});
        return std::ranges::any_of(picture.shapes, [&](const Shape& shape) {
            const auto* const words = std::get_if<Words>(&shape.form);
            return words != nullptr && words->text == label;
        });
    };
    CHECK(says(1600, "1,024"));
    CHECK(says(520, "512"));
    CHECK_FALSE(says(520, "1,024"));
}

TEST_CASE("a heat map's cells as a table that is filled row by row", "[pictures]") {
    TableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    HeatMap map = example_map();
    model.setTable(heat_map_table(map, ByteUnits::decimal));
    REQUIRE(model.rowCount() == 6);
    const auto text = [&](CellIndex at, const char* column) {
        return model.index(id_of(map, at), model.columnOf(column)).data().toString();
    };
    CHECK(text({1, 0}, "batch") == QStringLiteral("16"));
    CHECK(text({0, 1}, "seq") == QStringLiteral("2,048"));
    CHECK(text({1, 0}, "tokens_per_s") == QStringLiteral("3,000"));
    CHECK(text({2, 0}, "state") == QStringLiteral("does not fit"));
    CHECK(text({2, 1}, "tokens_per_s") == QStringLiteral("-"));
    CHECK(text({2, 1}, "reason").contains(QStringLiteral("Micro batch")));
    CHECK(model.headerData(0, Qt::Horizontal, Qt::DisplayRole).toString() ==
          QStringLiteral("Batch [sequences]"));

    const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    map.set_cell({1, 1}, example_cell(5000, 90'000'000'000));
    model.setRow(id_of(map, {1, 1}), heat_map_row(map, {1, 1}, ByteUnits::decimal));
    CHECK(changes.count() == 1);
    CHECK(text({1, 1}, "tokens_per_s") == QStringLiteral("5,000"));
    model.setTable(heat_map_table(map, ByteUnits::binary), ByteUnits::binary);
    CHECK(text({1, 1}, "host_bytes") == QStringLiteral("83.8 GiB"));
    CHECK(text({2, 0}, "reason").startsWith(QStringLiteral("host needs 232.8 GiB, has 222.2 GiB")));
    model.setTable(heat_map_table(HeatMap(), ByteUnits::decimal));
    CHECK(model.rowCount() == 0);
}

}  // namespace sluice
