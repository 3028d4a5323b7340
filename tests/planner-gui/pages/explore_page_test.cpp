#include "planner-gui/pages/explore_page.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "planner-gui/pages/picture_view.h"
#include "tests/catch.h"
#include "tests/planner-gui/heat_map_example.h"
#include "tests/planner-gui/pages/shown_page.h"

namespace sluice {
namespace {

QPushButton* button(const QWidget& page, const QString& text) {
    for (QPushButton* const found : page.findChildren<QPushButton*>())
        if (found->text().remove(QLatin1Char('&')) == text) return found;
    throw std::runtime_error(text.toStdString());
}

void show(ExplorePage& page) {
    page.setScenario(TrainingSpec{}, read_machine_profile("h200-sxm-pcie5-1.5tb"),
                     QStringLiteral("a model on a machine"));
    page.resize(1200, 700);
    page.show();
    QTest::qWait(1);
}

void fill(ExplorePage& page, const HeatMap& map) {
    page.setMap(HeatMap(map.x(), map.y(), map.point_settings()));
    for (int y = 0; y < map.rows(); ++y)
        for (int x = 0; x < map.columns(); ++x)
            if (map.cell({x, y})) page.setCell({x, y}, *map.cell({x, y}));
    page.setBusy(false);
}

}  // namespace

TEST_CASE("explore: Run asks for the axes, Stop stops", "[pages]") {
    ExplorePage page;
    show(page);
    const QSignalSpy asked(&page, &ExplorePage::exploreRequested);
    const QSignalSpy stopped(&page, &ExplorePage::stopRequested);
    QTest::mouseClick(button(page, QStringLiteral("Run")), Qt::LeftButton);
    REQUIRE(asked.count() == 1);
    const auto map = asked.first()[0].value<HeatMap>();
    CHECK(map.x().number.key == "batch");
    CHECK(map.x().values == std::vector<double>{1, 2, 4, 8, 16, 32, 64});
    CHECK(map.point_settings() == PointSettings::fastest);
    CHECK(page.map().columns() == 0);  // until the first cell
    CHECK(page.isBusy());
    page.setCell({3, 2}, example_cell(1000, 50'000'000'000));
    CHECK(page.map().columns() == 7);
    // The scenario's own: a batch of 8, sequences of 1,024.
    CHECK(page.findChild<PictureView*>()->selected() == id_of(page.map(), {3, 1}));
    page.setCell({99, 2}, example_cell(1000, 50'000'000'000));  // of an earlier, larger map
    CHECK(page.map().computed() == 1);
    QTest::mouseClick(button(page, QStringLiteral("Stop")), Qt::LeftButton);
    CHECK(stopped.count() == 1);
    page.setBusy(false);
    CHECK_FALSE(page.isBusy());
    CHECK(button(page, QStringLiteral("Run"))->isEnabled());
}

TEST_CASE("explore: a choice says which settings the cells have", "[pages]") {
    ExplorePage page;
    show(page);
    QComboBox* choice = nullptr;
    for (QComboBox* const box : page.findChildren<QComboBox*>())
        if (box->accessibleName() == QStringLiteral("Settings of the cells")) choice = box;
    REQUIRE(choice != nullptr);
    choice->setFocus();
    QTest::keyClick(choice, Qt::Key_Down);
    const QSignalSpy asked(&page, &ExplorePage::exploreRequested);
    QTest::mouseClick(button(page, QStringLiteral("Run")), Qt::LeftButton);
    REQUIRE(asked.count() == 1);
    CHECK(asked.first()[0].value<HeatMap>().point_settings() == PointSettings::given);
    page.setCell({0, 0}, example_cell(1000, 50'000'000'000));
    CHECK_THAT(page.svg().toStdString(),
               ContainsSubstring("All cells have the settings of the scenario"));
}

TEST_CASE("explore: wrong values are stated and cannot be run", "[pages]") {
    ExplorePage page;
    show(page);
    auto* const x = page.findChildren<AxisEditor*>().first();
    x->valuesEdit()->clear();
    QTest::keyClicks(x->valuesEdit(), QStringLiteral("8,0"));
    CHECK(x->error().contains(QStringLiteral("Batch is 0, expected a whole number")));
    CHECK_FALSE(button(page, QStringLiteral("Run"))->isEnabled());
    x->valuesEdit()->clear();
    QTest::keyClicks(x->valuesEdit(), QStringLiteral("8,24"));
    CHECK(x->error().isEmpty());
    CHECK(button(page, QStringLiteral("Run"))->isEnabled());
    // Typed values stay when the scenario changes.
    TrainingSpec training;
    training.batch = 64;
    page.setScenario(training, read_machine_profile("h200-sxm-pcie5-1.5tb"), {});
    CHECK(x->valuesEdit()->text() == QStringLiteral("8,24"));
    x->choose("seq");
    CHECK_FALSE(button(page, QStringLiteral("Run"))->isEnabled());  // both axes
}

TEST_CASE("explore: keys and mouse select, Enter and double click adopt", "[pages]") {
    ExplorePage page;
    show(page);
    fill(page, example_map());
    const QSignalSpy adopted(&page, &ExplorePage::adopted);
    auto* const view = page.findChild<PictureView*>();
    QTest::keyClick(view, Qt::Key_Right);
    QTest::keyClick(view, Qt::Key_Return);
    REQUIRE(adopted.count() == 1);
    CHECK(adopted.first()[0].value<CellIndex>() == CellIndex{1, 0});
    CHECK(view->accessibleDescription().contains(QStringLiteral("3,000 tokens/s")));

    const int refused = id_of(page.map(), {2, 1});
    QTest::mouseClick(view, Qt::LeftButton, {}, test::middle_of(*view, refused));
    CHECK(view->selected() == refused);
    QTest::keyClick(view, Qt::Key_Down);
    CHECK(view->selected() == id_of(page.map(), {2, 0}));
    QTest::keyClick(view, Qt::Key_Right);  // at the border
    CHECK(view->selected() == id_of(page.map(), {2, 0}));
    QTest::keyClick(view, Qt::Key_Home);
    CHECK(view->selected() == id_of(page.map(), {0, 0}));
    QTest::keyClick(view, Qt::Key_Up);
    QTest::keyClick(view, Qt::Key_End);
    CHECK(view->selected() == refused);
    QTest::keyClick(view, Qt::Key_Return);  // what is refused cannot be adopted
    CHECK(adopted.count() == 1);
    QTest::mouseDClick(view, Qt::LeftButton, {}, test::middle_of(*view, id_of(page.map(), {0, 1})));
    CHECK(adopted.count() == 2);
}

TEST_CASE("explore: the map of an earlier scenario is marked until Run again", "[pages]") {
    ExplorePage page;
    show(page);
    auto* const note = page.findChild<OutdatedNote*>();
    page.setOutdated(true);
    CHECK(!note->isVisible());  // there is no map
    fill(page, example_map());
    page.setOutdated(true);
    CHECK(note->isVisible());
    const QSignalSpy asked(&page, &ExplorePage::exploreRequested);
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.count() == 1);
    CHECK(note->isVisible());
    page.setCell({0, 0}, example_cell(1000, 50'000'000'000));
    CHECK(!note->isVisible());
}

TEST_CASE("explore: csv, svg, and cells fill one by one", "[pages]") {
    ExplorePage page;
    CHECK(page.map().columns() == 0);
    show(page);
    fill(page, example_map());
    CHECK(page.csv().toStdString() == to_csv(heat_map_table(example_map(), ByteUnits::decimal)));
    CHECK_THAT(page.svg().toStdString(), ContainsSubstring("a model on a machine"));
    const QImage before = page.grab().toImage();
    page.setCell({1, 1}, example_cell(9000, 50'000'000'000));
    CHECK(page.map().computed() == 6);
    CHECK(page.grab().toImage() != before);
}

}  // namespace sluice
