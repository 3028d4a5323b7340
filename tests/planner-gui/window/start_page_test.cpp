// Does the start page answer what a newcomer asks, by mouse and by keyboard?
#include "planner-gui/window/start_page.h"

#include <QPushButton>
#include <QTableView>

#include "planner-gui/window/pages.h"
#include "sim/base/write_file.h"
#include "sim/report/answers/findings.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::type;
using test::WindowDriver;

namespace {

QList<QPushButton*> plans(MainWindow& window) {
    return window.startPage().findChildren<QPushButton*>(QStringLiteral("openPlan"));
}

/// A small model, so that each machine is predicted fast.
void ask_small(MainWindow& window) {
    type(window, "model", "qwen2.5-0.5b");
    type(window, "tokens", "10M");
    type(window, "days", "30");
}

}  // namespace

TEST_CASE("start page: a new project begins with it, and a plan of its answer is opened",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    CHECK(window.startPage().isVisible());
    CHECK(!window.form().isVisible());
    window.resize(2560, 1440);
    CHECK(test::wait_until([&] {
        const int field = window.startPage().row("tokens")->width();
        return window.startPage().width() > 2000 && field > 300 && field < 900;
    }));
    ask_small(window);
    driver.finish(JobKind::start,
                  [&] { QTest::mouseClick(window.startPage().findButton(), Qt::LeftButton); });
    QTest::qWait(0);  // earlier cards are deleted
    REQUIRE(plans(window).size() == 3);
    // The answer belongs to the project, with all ways in a table.
    CHECK(window.isWindowModified());
    REQUIRE(window.stack().project().asked_run);
    const AskedRun run = *window.stack().project().asked_run;
    CHECK(run.fields.at("tokens") == "10M");
    auto* const all = window.startPage().findChild<QTableView*>();
    REQUIRE(all->isVisible());
    CHECK(all->model()->rowCount() == std::ssize(run.ways));
    QStringList settings;
    for (const QLabel* const label : plans(window)[0]->parentWidget()->findChildren<QLabel*>())
        if (label->text().startsWith(QStringLiteral("Settings: "))) settings << label->text();
    REQUIRE(settings.size() == 1);
    QTest::mouseClick(plans(window)[0], Qt::LeftButton);
    const std::string opens =
        setting_words(settings_beside_defaults(driver.settled()->report().asked.training));
    CHECK(settings[0].toStdString() == "Settings: " + opens + ".");
    CHECK(!window.startPage().isVisible());
    CHECK(window.form().isVisible());
    CHECK(window.stack().count() == 1);
    CHECK(window.isWindowModified());
    const auto opened = driver.settled();
    CHECK(opened->planned.model.model == "qwen2.5-0.5b");
    CHECK(opened->report().plan.fit.fits());
    CHECK(opened->cost.tokens == 1e7);
    CHECK(opened->planned.notes.find(format_usd(opened->cost.run.usd.value)) != std::string::npos);

    SECTION("a second one is added to it") {
        test::choose(window, "Start page");
        REQUIRE(window.startPage().isVisible());
        QTest::mouseClick(plans(window)[1], Qt::LeftButton);
        CHECK(window.stack().count() == 2);
        CHECK(driver.settled()->planned != opened->planned);
    }
}

TEST_CASE("start page: a project brings its question and answer back", "[window]") {
    const QTemporaryDir folder;
    const std::string file = folder.filePath(QStringLiteral("asked.json")).toStdString();
    Project project;
    project.scenarios = {test::small_scenario()};
    AskedRun run;
    run.fields = {{"model", "qwen2.5-7b"}, {"task", "pretraining"}, {"tokens", "2B"},
                  {"seq", "1024"},         {"owned", "h100-pcie"},  {"owned_gpus", "2"}};
    run.ways = {test::small_scenario(16), test::small_scenario(16, "gh200-480gb")};
    project.asked_run = run;
    write_file(file, project_json(project));
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    REQUIRE(window.openFile(QString::fromStdString(file)));
    CHECK(!window.isWindowModified());
    driver.finish(JobKind::start, [&] { test::choose(window, "Start page"); });
    QTest::qWait(0);  // earlier cards are deleted
    for (const auto& [field, typed] : run.fields)
        CHECK(window.startPage().row(field)->text().toStdString() == typed);
    CHECK(plans(window).size() == 2);
    CHECK(!window.isWindowModified());
    // An answer of a machine that is gone leaves the others.
    run.ways[0].machine.machine = "no-such-machine";
    project.asked_run = run;
    write_file(file, project_json(project));
    driver.finish(JobKind::start, [&] {
        REQUIRE(window.openFile(QString::fromStdString(file)));
        window.showStart(true);
    });
    QTest::qWait(0);
    CHECK(plans(window).size() == 1);
}

TEST_CASE("start page: where nothing fits, a button opens what would", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    PlannedScenario small;
    small.model.model = "qwen2.5-72b";
    small.machine = {"h200-sxm-pcie5", "256GB", {"host.gpus=2"}};
    small.training = {{"batch", "16"}, {"seq", "1024"}};
    AskedRun run;
    run.fields = {{"model", "qwen2.5-72b"}, {"task", "fine-tuning"},     {"tokens", "1B"},
                  {"seq", "1024"},          {"owned", "h200-sxm-pcie5"}, {"owned_gpus", "2"},
                  {"owned_memory", "256GB"}};
    run.ways = {small};
    driver.finish(JobKind::start, [&] { window.startPage().setAskedRun(run); });
    REQUIRE(!plans(window).isEmpty());
    QStringList words;
    for (const QLabel* const label :
         plans(window)[0]->parentWidget()->parentWidget()->findChildren<QLabel*>())
        words << label->text();
    CHECK(words[0].startsWith(QStringLiteral("Your machine h200-sxm-pcie5 fits with ")));
    CHECK(words[0].contains(QStringLiteral("Host memory: ")));
    QTest::mouseClick(plans(window)[0], Qt::LeftButton);
    CHECK(driver.settled()->report().plan.fit.fits());
    CHECK(window.form().isVisible());
}

TEST_CASE("start page: own GPUs are counted, and a wrong count says so", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    ask_small(window);
    const auto press = [&] { QTest::mouseClick(window.startPage().findButton(), Qt::LeftButton); };
    const auto mistake = [&](const char* field) {
        return window.startPage().row(field)->mistake().toStdString();
    };
    type(window, "owned_gpus", "2");
    press();
    CHECK(mistake("owned") == "Enter the machine that you own, or clear what it has.");
    type(window, "owned", "h200-sxm-pcie5");
    type(window, "owned_gpus", "2.5");
    press();
    CHECK(mistake("owned_gpus") == "\"2.5\": enter a whole number of GPUs such as 2.");
    type(window, "owned_gpus", "12");
    press();
    CHECK(QString::fromStdString(mistake("owned_gpus")).contains(QStringLiteral("12")));
    type(window, "owned_gpus", "2");
    type(window, "owned_memory", "512");
    press();
    CHECK(!mistake("owned_memory").empty());
    CHECK(!window.stack().project().asked_run);
}

TEST_CASE("start page: planning in detail takes the fields that were changed", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    const auto press = [&] {
        for (QPushButton* const button : window.startPage().findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Plan in detai&l"))
                QTest::mouseClick(button, Qt::LeftButton);
    };
    SECTION("none was changed") {
        press();
        CHECK(window.form().isVisible());
        CHECK(!window.isWindowModified());
    }
    SECTION("a run on a machine") {
        ask_small(window);
        type(window, "owned", "gh200-480gb");
        press();
        CHECK(window.form().isVisible());
        const auto opened = driver.settled();
        CHECK(opened->planned.model.model == "qwen2.5-0.5b");
        CHECK(opened->planned.machine.machine == "gh200-480gb");
        CHECK(opened->cost.tokens == 1e7);
    }
}

TEST_CASE("start page: it works by keyboard alone", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    window.activateWindow();
    REQUIRE(test::wait_until([&] { return window.isActiveWindow(); }));
    ask_small(window);
    QLineEdit* const days = type(window, "days", "30");
    const auto stop = [&] {
        if (!window.startPage().findButton()->text().contains(QStringLiteral("Stop"))) return;
        QTest::keyClick(days, Qt::Key_Return);  // where it has ended already, this would start it
        QTest::qWait(0);
        CHECK(window.startPage().findButton()->text().contains(QStringLiteral("Find")));
    };
    QTest::keyClick(days, Qt::Key_Return);
    REQUIRE(test::wait_until([&] { return !plans(window).isEmpty(); }));
    stop();
    type(window, "days", "20");
    CHECK(!plans(window).front()->isEnabled());  // it answers another question
    QTest::keyClick(days, Qt::Key_Return);
    QTest::qWait(0);  // earlier cards are deleted
    REQUIRE(test::wait_until([&] { return !plans(window).isEmpty(); }));
    CHECK(plans(window).front()->isEnabled());
    stop();
    for (int i = 0;
         i < 40 && QApplication::focusWidget()->objectName() != QLatin1String("openPlan"); ++i)
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    REQUIRE(QApplication::focusWidget()->objectName() == QLatin1String("openPlan"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
    CHECK(!window.startPage().isVisible());
}

TEST_CASE("start page: a field that is wrong says so, and nothing is asked", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    type(window, "tokens", "many");
    QTest::mouseClick(window.startPage().findButton(), Qt::LeftButton);
    CHECK(window.startPage().row("tokens")->mistake() ==
          QStringLiteral("\"many\": enter a number of tokens such as 2B, or most."));
    type(window, "tokens", "2 B");
    type(window, "owned", "our server");
    QTest::mouseClick(window.startPage().findButton(), Qt::LeftButton);
    CHECK(window.startPage().row("owned")->mistake().startsWith(
        QStringLiteral("There is no machine \"our server\": choose one of the list")));
    CHECK(plans(window).isEmpty());
}
