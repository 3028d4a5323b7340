// Files change under the window: profiles, projects, what a crash left of them.
#include <QDir>
#include <QFile>
#include <QPlainTextEdit>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/answers.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::answer_next;
using test::small_scenario;
using test::WindowDriver;

namespace {

/// Copies a profile of the library with another one's numbers.
void put_profile(const QString& file, const char* name) {
    const std::string library = std::string(SLUICE_SOURCE_DIR "/hwprofiles/") + name + ".json";
    write_file(file.toStdString(), read_text_file(library));
}

/// A window with a project that was saved, then changed here, and then by somebody else.
struct ChangedProject {
    ChangedProject() : file(driver.file("project.json")) {
        MainWindow& window = *driver.window;
        window.openExample();
        REQUIRE(window.saveFile(file));
        driver.type("batch", "32");
        theirs = example_scenario();
        theirs.training["batch"] = "16";
        write_file(file.toStdString(), project_json({{theirs}, 0}));
    }
    std::string on_disk() const {
        return read_planned_scenario(file.toStdString()).training.at("batch");
    }
    std::string here() const { return driver.window->stack().current().training.at("batch"); }

    WindowDriver driver;
    QString file;
    PlannedScenario theirs;
};

/// Leaves a project as a crash does.
void leave(const WindowDriver& driver, const QString& file, const char* batch) {
    const QDir folder(driver.file("recovery"));
    QDir().mkpath(folder.path());
    PlannedScenario lost = example_scenario();
    lost.training["batch"] = batch;
    const QString recovery = folder.filePath(QStringLiteral("recovery-gone.json"));
    write_file(recovery.toStdString(), project_json({{lost}, 0}));
    write_file(recovery.toStdString() + ".path", file.toStdString());
}

void set_age(const QString& file, int seconds) {
    QFile one(file);
    REQUIRE(one.open(QIODevice::ReadWrite));
    REQUIRE(one.setFileTime(QDateTime::currentDateTime().addSecs(-seconds),
                            QFileDevice::FileModificationTime));
}

}  // namespace

TEST_CASE("files on disk: a profile that changes is predicted again, also side by side",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString own = driver.file("own.json"), other = driver.file("other.json");
    put_profile(own, "gh200-480gb");
    put_profile(other, "gh200-480gb");
    window.files().start(small_scenario(8, other.toStdString()));
    window.stack().add(small_scenario(16, own.toStdString()));
    const double before = driver.settled()->report().step.seconds;
    ComparePage& page = window.pages().compare();
    window.pages().setCurrentWidget(&page);
    const auto* const table = page.scenarios().findChild<TableModel*>();
    REQUIRE(test::wait_until([&] { return table->columnCount() == 2; }));
    const QString old_table = page.csv();

    put_profile(own, "h100-sxm-pcie5");
    put_profile(other, "h100-sxm-pcie5");
    window.pages().setCurrentIndex(0);
    REQUIRE(test::wait_until([&] { return driver.settled()->report().step.seconds != before; }));
    window.pages().setCurrentWidget(&page);
    REQUIRE(test::wait_until([&] { return table->columnCount() == 2; }));
    const QStringList old_rows = old_table.split(QLatin1Char('\n')),
                      rows = page.csv().split(QLatin1Char('\n'));
    const auto row = [](const QStringList& all) {
        return all.filter(QStringLiteral("Tokens/s")).front().split(QLatin1Char(','));
    };
    for (const int column : {1, 2}) CHECK(row(rows)[column] != row(old_rows)[column]);

    REQUIRE(QFile::remove(other));
    window.pages().setCurrentIndex(0);
    window.pages().setCurrentWidget(&page);
    CHECK(table->columnCount() == 1);
    put_profile(other, "gh200-480gb");
    window.pages().setCurrentIndex(0);
    window.pages().setCurrentWidget(&page);
    REQUIRE(test::wait_until([&] { return table->columnCount() == 2; }));
    CHECK(row(page.csv().split(QLatin1Char('\n')))[1] == row(old_rows)[1]);
}

TEST_CASE("files on disk: an answer of a profile that has changed since is marked", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString own = driver.file("own.json");
    put_profile(own, "gh200-480gb");
    driver.open(small_scenario(8, own.toStdString()));
    BarsPage& page = window.pages().sensitivity();
    const auto marked = [&] { return !page.findChild<OutdatedNote*>()->isHidden(); };
    Q_EMIT page.requested();
    REQUIRE(test::wait_until([&] { return !page.csv().isEmpty(); }));
    window.pages().setCurrentWidget(&page);
    CHECK(!marked());
    put_profile(own, "h100-sxm-pcie5");
    window.pages().setCurrentIndex(0);
    CHECK(marked());
    put_profile(own, "gh200-480gb");
    window.pages().setCurrentWidget(&page);
    CHECK(!marked());
}

TEST_CASE("files on disk: a name and notes leave the verdict alone", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const auto before = driver.openExample();
    QSignalSpy predicted(&window.session(), &PlannerSession::predicted);
    auto* const notes = window.findChild<QPlainTextEdit*>(QStringLiteral("notes"));
    QTest::keyClicks(notes, QStringLiteral("cheap "));
    window.stack().rename(0, QStringLiteral("first"));
    window.stack().undoStack().undo();
    window.stack().undoStack().undo();
    CHECK(window.stack().current() == example_scenario());
    CHECK(notes->toPlainText().toStdString() == example_scenario().notes);
    window.session().wait();
    QCoreApplication::processEvents();
    CHECK(predicted.count() == 0);
    CHECK(window.prediction() == before);
}

TEST_CASE("files on disk: a project that something else changed is not overwritten unasked",
          "[window]") {
    const ChangedProject project;
    MainWindow& window = *project.driver.window;
    answer_next(QMessageBox::Cancel);
    CHECK(!window.saveFile(project.file));
    CHECK(project.on_disk() == "16");
    CHECK(project.here() == "32");
    CHECK(window.isWindowModified());

    SECTION("overwritten") {
        answer_next(QStringLiteral("Overwrite"));
        CHECK(window.saveFile(project.file));
        CHECK(project.on_disk() == "32");
        CHECK(!window.isWindowModified());
        project.driver.type("batch", "48");
        CHECK(window.saveFile(project.file));  // its own changes are no question
        CHECK(project.on_disk() == "48");
    }
    SECTION("saved beside it") {
        const QString beside = project.driver.file("beside.json");
        answer_next(QStringLiteral("Save as"));
        const test::FileAnswer answer(beside);
        CHECK(window.saveFile(project.file));
        CHECK(answer.given());
        CHECK(project.on_disk() == "16");
        CHECK(read_planned_scenario(beside.toStdString()).training.at("batch") == "32");
        CHECK(window.files().file() == beside);
    }
    SECTION("reloaded") {
        answer_next(QStringLiteral("Reload"));
        CHECK(!window.saveFile(project.file));
        CHECK(project.on_disk() == "16");
        CHECK(window.stack().current() == project.theirs);
        CHECK(!window.isWindowModified());
    }
    SECTION("gone, it is written again") {
        REQUIRE(QFile::remove(project.file));
        CHECK(window.saveFile(project.file));
        CHECK(project.on_disk() == "32");
    }
}

TEST_CASE("files on disk: closing asks too before it overwrites", "[window]") {
    const ChangedProject project;
    MainWindow& window = *project.driver.window;
    answer_next(QMessageBox::Save);
    answer_next(QStringLiteral("Reload"));
    CHECK(!window.close());
    CHECK(window.isVisible());
    CHECK(project.here() == "16");
    CHECK(window.close());
}

TEST_CASE("files on disk: what a crash left of a project is offered when it is opened",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const QString file = driver.file("project.json");
    write_file(file.toStdString(), project_json({{example_scenario()}, 0}));
    const auto batch = [&] { return window.stack().current().training.at("batch"); };
    const auto kept = [&] { return Autosave::find(driver.file("recovery")).size(); };
    set_age(file, 60);
    leave(driver, file, "7");

    SECTION("opened, it is not saved yet, and the file is asked for no more") {
        answer_next(QMessageBox::No);
        window.start({});  // for a recovery file of its own
        answer_next(QMessageBox::Yes);
        REQUIRE(window.openFile(file));
        CHECK(batch() == "7");
        CHECK(window.isWindowModified());
        CHECK(window.files().file() == file);
        CHECK(kept() == 0);
        CHECK(window.saveFile(file));
        CHECK(read_planned_scenario(file.toStdString()).training.at("batch") == "7");
    }
    SECTION("not wanted now, it is kept") {
        answer_next(QMessageBox::No);
        REQUIRE(window.openFile(file));
        CHECK(batch() == "64");
        CHECK(!window.isWindowModified());
        CHECK(kept() == 1);
    }
    SECTION("dropped") {
        answer_next(QMessageBox::Discard);
        REQUIRE(window.openFile(file));
        CHECK(batch() == "64");
        CHECK(kept() == 0);
    }
    SECTION("of another file or older, it is no question") {
        const QString other = driver.file("other.json");
        write_file(other.toStdString(), project_json({{example_scenario()}, 0}));
        set_age(other, 60);
        REQUIRE(window.openFile(other));
        CHECK(batch() == "64");
        set_age(driver.file("recovery/recovery-gone.json"), 120);
        REQUIRE(window.openFile(file));
        CHECK(batch() == "64");
        CHECK(kept() == 1);
    }
    SECTION("of a file that is gone, it is all there is") {
        QFile::remove(file);
        answer_next(QMessageBox::Yes);
        REQUIRE(window.openFile(file));
        CHECK(batch() == "7");
    }
    SECTION("a file that was written later is not overwritten unasked") {
        answer_next(QMessageBox::Yes);
        REQUIRE(window.openFile(file));
        CHECK(!window.files().changedOnDisk());
        write_file(file.toStdString(), project_json({{example_scenario()}, 0}) + "\n");
        CHECK(window.files().changedOnDisk());
    }
}
