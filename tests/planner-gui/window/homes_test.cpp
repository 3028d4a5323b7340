// A home that is moved on the page is a value of the form, and the page says what that gained.
#include <QComboBox>
#include <QSpinBox>

#include "planner-gui/pages/homes_page.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

namespace sluice {

TEST_CASE("homes: a moved home is in the form, its gain on the page, undo takes it back",
          "[window]") {
    const test::WindowDriver driver;
    HomesPage& page = driver.window->pages().homes();
    driver.window->pages().setCurrentWidget(&page);
    const auto before = driver.open(test::small_scenario());
    CHECK(test::says(page, qtext(format_seconds(before->report().step.seconds) + " a step")));
    CHECK(!test::says(page, QStringLiteral(", was ")));
    auto* const resident = test::named<QSpinBox>(page, "Resident layers");
    REQUIRE(resident != nullptr);
    CHECK(resident->maximum() == 8);
    for (const char* const words : {"Late moment layers", "Visiting layers", "Weight code layers"})
        CHECK(test::named<QSpinBox>(page, words) != nullptr);
    const QByteArray stacks = page.svg();
    const QString was =
        qtext(", was " + format_seconds(before->report().step.seconds) + " with Resident layers 0");

    resident->stepUp();
    resident->stepUp();
    auto now = driver.settled();
    CHECK(now->scenario.training.resident_layers == 2);
    CHECK(driver.line("resident_layers")->text() == QStringLiteral("2"));
    CHECK(test::says(page, was));
    CHECK(page.svg() != stacks);

    // Enter on a cell moves the layers up to it; on the last of them, it alone.
    for (const int layers : {5, 4}) {
        page.view()->select(4);
        QTest::keyClick(page.view(), Qt::Key_Return);
        now = driver.settled();
        CHECK(now->scenario.training.resident_layers == layers);
        CHECK(resident->value() == layers);
        CHECK(test::says(page, was));
    }

    auto* const tables = test::named<QComboBox>(page, "Resident tables");
    tables->setCurrentIndex(1);
    now = driver.settled();
    CHECK(now->scenario.training.resident_tables == ResidentTables::head);
    CHECK(test::says(page, QStringLiteral(" with Resident tables none")));

    driver.type("batch", "32");  // another question, with no step before
    driver.settled();
    CHECK(!test::says(page, QStringLiteral(", was ")));
    while (driver.window->stack().undoStack().canUndo()) driver.window->stack().undoStack().undo();
    driver.settled();
    CHECK(resident->value() == 0);
    CHECK(page.svg() == stacks);
    CHECK(page.csv().startsWith(QStringLiteral("memory,home,bytes\n")));
}

TEST_CASE("homes: a refused value can be taken back on the page", "[window]") {
    const test::WindowDriver driver;
    HomesPage& page = driver.window->pages().homes();
    PlannedScenario planned = test::small_scenario();
    planned.training["clipping"] = "exact";
    driver.open(planned);
    auto* const deferred = test::named<QSpinBox>(page, "Deferred layers");
    deferred->setValue(3);
    REQUIRE(test::wait_until([&] { return driver.window->prediction() == nullptr; }));
    CHECK(test::says(page, QStringLiteral("No prediction: the form says")));
    CHECK(page.svg().isEmpty());
    CHECK(deferred->value() == 3);
    deferred->setValue(0);
    CHECK(driver.settled()->report().plan.fit.fits());
    CHECK(!page.svg().isEmpty());
}

TEST_CASE("homes: a system has the fields of its own options", "[window]") {
    const test::WindowDriver driver;
    HomesPage& page = driver.window->pages().homes();
    driver.window->pages().setCurrentWidget(&page);
    PlannedScenario planned = test::small_scenario();
    planned.training["schedule"] = "resident";
    driver.open(planned);
    CHECK(!test::named<QSpinBox>(page, "Resident layers")->isVisible());
    CHECK(page.view()->picture().keys.ids.empty());
    CHECK(!page.svg().isEmpty());
}

}  // namespace sluice
