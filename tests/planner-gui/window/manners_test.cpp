// How does the window behave with a keyboard, a screen reader and a file that is gone?
#include <QAccessible>
#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QFile>
#include <QLabel>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QWheelEvent>

#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

TEST_CASE("manners: the shortcut of undo takes back an edit of another field", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    window.activateWindow();
    REQUIRE(test::wait_until([&] { return window.isActiveWindow(); }));
    driver.type("batch", "32");
    for (const char* field : {"layers", "model"}) {
        driver.line(field)->setFocus();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier);
        CHECK(window.stack().current() == example_scenario());
        CHECK(driver.line("batch")->text() == QStringLiteral("64"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z,
                        Qt::ControlModifier | Qt::ShiftModifier);
        CHECK(window.stack().current().training.at("batch") == "32");
    }
    auto* const notes = window.findChild<QPlainTextEdit*>(QStringLiteral("notes"));
    notes->setFocus();
    QTest::keyClick(notes, Qt::Key_Z, Qt::ControlModifier);
    CHECK(window.stack().current() == example_scenario());
}

TEST_CASE("manners: a name that is being typed is saved", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    window.activateWindow();
    REQUIRE(test::wait_until([&] { return window.isActiveWindow(); }));
    auto* const list = window.findChild<QListView*>(QStringLiteral("scenarios"));
    list->setFocus();
    list->edit(list->currentIndex());
    auto* const editor = list->viewport()->findChild<QLineEdit*>();
    REQUIRE(editor != nullptr);
    editor->selectAll();
    QTest::keyClicks(editor, QStringLiteral("with less memory"));
    const QString file = driver.file("named.json");
    REQUIRE(window.saveFile(file));
    CHECK(window.stack().current().name == "with less memory");
    CHECK(read_planned_scenario(file.toStdString()).name == "with less memory");
}

TEST_CASE("manners: what a screen reader reads of the verdict is the verdict", "[window]") {
    const WindowDriver driver;
    driver.openExample();
    const auto read = [&](const char* name) {
        auto* const label = driver.window->verdict().findChild<QLabel*>(QLatin1String(name));
        REQUIRE(label != nullptr);
        return std::pair(QAccessible::queryAccessibleInterface(label)->text(QAccessible::Name),
                         label->text());
    };
    for (const char* name : {"headline", "detail", "speed", "price", "days", "energy"}) {
        const auto [name_read, text] = read(name);
        CHECK(!text.isEmpty());
        CHECK(name_read.contains(text));
    }
    CHECK(read("speed").first.startsWith(QStringLiteral("Speed: ")));
}

TEST_CASE("manners: later stages of a verdict leave the suggestions' buttons", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario short_of = example_scenario();
    short_of.machine.host_memory = "1TB";
    window.files().start(short_of);
    REQUIRE(test::wait_until([&] {
        const auto now = window.prediction();
        return now != nullptr && now->stage != PredictionStage::step;
    }));
    auto* const button = window.verdict().findChild<QPushButton*>(QStringLiteral("suggestion"));
    REQUIRE(button != nullptr);
    driver.settled();
    CHECK(window.verdict().findChild<QPushButton*>(QStringLiteral("suggestion")) == button);
}

TEST_CASE("manners: a machine whose profile is gone is adopted, and its verdict says so",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString gone = driver.file("gone.json");
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json"), gone));
    PlannedScenario own = example_scenario();
    own.machine.machine = gone.toStdString();
    driver.open(own);
    window.pages().showMachines();
    REQUIRE(test::wait_until([&] { return window.pages().pareto().rows().size() > 1; }));
    Q_EMIT window.pages().pareto().stopRequested();
    window.files().start(example_scenario());
    REQUIRE(QFile::remove(gone));
    Q_EMIT window.pages().pareto().adopted(0);
    CHECK(window.stack().current().machine.machine == gone.toStdString());
    FieldRow* const machine = window.form().row(QStringLiteral("machine"));
    REQUIRE(test::wait_until([&] { return !machine->mistake().isEmpty(); }));
    CHECK(machine->mistake().contains(QStringLiteral("gone.json")));
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == example_scenario());
}

TEST_CASE("manners: a scenario is copied as the command that answers it", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    test::choose(window, "Copy as command line");
    CHECK(QApplication::clipboard()->text() ==
          QStringLiteral("./dev predict --model 120b --machine h200-sxm-pcie5-1.5tb --batch 64 "
                         "--micro-batch 16 --state-bytes 8 --plan given"));
    driver.type("usd_per_hour", "4");  // of which predict knows nothing
    test::choose(window, "Copy as command line");
    CHECK(QApplication::clipboard()->text() ==
          QStringLiteral(
              "./dev run sluice cost --model 120b --machine h200-sxm-pcie5-1.5tb "
              "--batch 64 --micro-batch 16 --state-bytes 8 --plan given --usd-per-hour 4"));
}

TEST_CASE("manners: the form shows who pays how, and an owned machine costs its electricity",
          "[window]") {
    const WindowDriver driver;
    PlannedScenario planned = example_scenario();
    const FieldRow& row = *driver.window->form().row(QStringLiteral("ownership"));
    CHECK(row.text() == QStringLiteral("any"));
    for (const char* const way : {"own", "rent"}) {
        planned.money["ownership"] = way;
        driver.window->files().start(planned);
        CHECK(row.text() == QLatin1StringView(way));
        const auto answer = driver.settled();
        REQUIRE(answer->cost.payment);
        CHECK(ownership_name(answer->cost.payment->ownership) == std::string(way));
    }
    driver.window->form().enter(QStringLiteral("ownership"), QStringLiteral("any"));
    CHECK(!driver.window->stack().current().money.contains("ownership"));
}

TEST_CASE("manners: a file that is dropped on any part is the window's, or of the page of reports",
          "[window]") {
    const WindowDriver driver;
    const ValidationPage& reports = driver.window->pages().validation();
    CHECK(driver.window->acceptDrops());
    CHECK(reports.acceptDrops());
    for (const QWidget* const part : driver.window->findChildren<QWidget*>()) {
        INFO(part->metaObject()->className() << " " << part->accessibleName().toStdString());
        CHECK((part == &reports || !part->acceptDrops()));
    }
}

TEST_CASE("manners: a wheel over the form changes no field", "[window]") {
    const WindowDriver driver;
    driver.openExample();
    for (const char* field : {"schedule", "recompute", "model", "machine"}) {
        QWidget* const editor = driver.window->form().row(QLatin1String(field))->editor();
        for (const bool focus : {false, true}) {
            if (focus) editor->setFocus();
            QWheelEvent wheel(QPointF(5, 5), editor->mapToGlobal(QPointF(5, 5)), {}, {0, -120},
                              Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(editor, &wheel);
            CHECK(driver.window->stack().current() == example_scenario());
        }
    }
}

TEST_CASE("manners: a suggestion for one scenario does not change the next", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario short_of = example_scenario();
    short_of.machine.host_memory = "1TB";
    driver.open(short_of);
    auto* const button = window.verdict().findChild<QPushButton*>(QStringLiteral("suggestion"));
    REQUIRE(button != nullptr);
    const auto* const headline = window.verdict().findChild<QLabel*>(QStringLiteral("headline"));
    CHECK(headline->isEnabled());
    window.stack().add(example_scenario());
    CHECK(!headline->isEnabled());  // it is not of this one
    button->click();
    CHECK(ask_the_same(window.stack().current(), example_scenario()));
    driver.settled();
    CHECK(headline->isEnabled());
}

TEST_CASE("manners: what was typed is quoted as it is, not as markup", "[window]") {
    const WindowDriver driver;
    driver.openExample();
    driver.type("batch", "<b>8</b>");
    FieldRow* const batch = driver.window->form().row(QStringLiteral("batch"));
    REQUIRE(test::wait_until([&] { return !batch->mistake().isEmpty(); }));
    CHECK(batch->mistake().contains(QStringLiteral("<b>8</b>")));
    for (const QLabel* const label : driver.window->findChildren<QLabel*>())
        if (label->text().contains(QStringLiteral("<b>")))
            CHECK(label->textFormat() == Qt::PlainText);
}
