// 200 scenarios, 400 layers, keys faster than predictions: all of it arrives, nothing is lost.
#include <QListView>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/prediction_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::small_scenario;
using test::WindowDriver;

TEST_CASE("robust: 200 scenarios are listed, compared, saved, opened and undone", "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.files().start(small_scenario(1));
    for (int batch = 2; batch <= 200; ++batch) window.stack().add(small_scenario(batch));
    CHECK(window.findChild<QListView*>(QStringLiteral("scenarios"))->model()->rowCount() == 200);
    const Project all = window.stack().project();

    window.pages().setCurrentWidget(&window.pages().compare());
    const auto* const table = window.pages().compare().scenarios().findChild<TableModel*>();
    REQUIRE(table != nullptr);
    REQUIRE(test::wait_until([&] { return table->columnCount() == 200; }));
    for (int i = 0; i < 200; ++i)
        CHECK(table->headerData(i, Qt::Horizontal).toString() ==
              QString::fromStdString(all.scenarios[static_cast<std::size_t>(i)].name));

    const QString file = driver.file("many.json");
    REQUIRE(window.saveFile(file));
    for (int i = 0; i < 199; ++i) window.stack().undoStack().undo();
    CHECK(window.stack().project() == Project{{small_scenario(1)}, 0});
    for (int i = 0; i < 199; ++i) window.stack().undoStack().redo();
    CHECK(window.stack().project().scenarios == all.scenarios);
    window.stack().setSaved();
    REQUIRE(window.openFile(file));
    CHECK(window.stack().project() == all);
    CHECK(driver.settled()->planned == all.scenarios.back());
}

TEST_CASE("robust: a model of 400 layers is predicted and drawn on every page", "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario deep = example_scenario();
    deep.model.model = "dense:layers=400,hidden=8192";
    deep.machine.host_memory = "20TB";
    deep.training = {{"batch", "16"}};
    const auto prediction = driver.open(deep);
    CHECK(prediction->report().asked.layers == 400);
    CHECK(prediction->report().step.intervals.size() > 2400);
    for (int page = 0; page < window.pages().count(); ++page) {
        window.pages().setCurrentIndex(page);
        CHECK(!window.grab().isNull());
    }
    // As table, an operation a line.
    CHECK(window.pages().timeline().csv().count(QLatin1Char('\n')) >=
          static_cast<int>(prediction->report().step.intervals.size()));
}

TEST_CASE("robust: keys faster than predictions: the last is answered, undo goes back in one",
          "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    QSignalSpy predicted(&window.session(), &PlannerSession::predicted);
    driver.type("batch", "1234567890");
    for (int i = 0; i < 10; ++i) QTest::keyClick(driver.line("batch"), Qt::Key_Backspace);
    QTest::keyClicks(driver.line("batch"), QStringLiteral("48"));
    const auto last = driver.settled();
    CHECK(last->planned.training.at("batch") == "48");
    // Twenty-two edits; of those that were superseded no more than a few were under way already.
    CHECK(predicted.count() < 3 * 22);
    CHECK(driver.line("batch")->text() == QStringLiteral("48"));
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == example_scenario());
    CHECK(driver.line("batch")->text() == QStringLiteral("64"));
}
