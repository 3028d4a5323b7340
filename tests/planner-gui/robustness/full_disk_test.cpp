// A disk that fills up while the planner writes: the sentence, the old file whole, nothing lost.
#include <QDir>
#include <QFile>
#include <QMessageBox>
#include <QSignalSpy>

#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/robustness/little_space.h"
#include "tests/planner-gui/window/answers.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::answer_next;
using test::content;
using test::LittleSpace;
using test::WindowDriver;

namespace {

QStringList warnings(const MainWindow& window) {
    QStringList out;
    for (const QMessageBox* box : window.findChildren<QMessageBox*>()) out << box->text();
    return out;
}

}  // namespace

TEST_CASE("robust: a full disk while saving leaves the file and the changes as they were",
          "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString file = driver.file("project.json");
    window.openExample();
    REQUIRE(window.saveFile(file));
    const QByteArray saved = content(file);
    driver.type("batch", "32");
    const PlannedScenario edited = driver.settled()->planned;
    {
        const LittleSpace full;
        CHECK(!window.saveFile(file));
    }
    CHECK(content(file) == saved);
    CHECK(QDir(driver.folder.path()).entryList({QStringLiteral("*.part")}).isEmpty());
    CHECK(window.stack().current() == edited);
    CHECK(window.isWindowModified());
    REQUIRE(warnings(window).size() == 1);
    CHECK(warnings(window)[0].contains(QStringLiteral("space")));
    CHECK(warnings(window)[0].startsWith(file));
    CHECK(!window.saveFile(QStringLiteral("/dev/full")));
    CHECK(window.isWindowModified());
    CHECK(window.files().file() == file);

    CHECK(window.saveFile(file));  // there is space again
    CHECK(!window.isWindowModified());
    CHECK(read_planned_scenario(file.toStdString()) == edited);
}

TEST_CASE("robust: a window whose project cannot be saved stays open", "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString file = driver.file("project.json");
    window.openExample();
    REQUIRE(window.saveFile(file));
    driver.type("batch", "32");
    driver.settled();
    {
        const LittleSpace full;
        answer_next(QMessageBox::Save);
        CHECK(!window.close());
    }
    CHECK(window.isVisible());
    CHECK(window.isWindowModified());
    CHECK(window.stack().current().training.at("batch") == "32");
    answer_next(QMessageBox::Save);
    CHECK(window.close());
    CHECK(read_planned_scenario(file.toStdString()).training.at("batch") == "32");
}

TEST_CASE("robust: what a crash left is kept until it is written again", "[robustness]") {
    const QTemporaryDir left;
    const QString recovery = left.filePath(QStringLiteral("recovery"));
    QDir().mkpath(recovery);
    const QString file = QDir(recovery).filePath(QStringLiteral("recovery-gone.json"));
    {
        QFile out(file);
        REQUIRE(out.open(QIODevice::WriteOnly));
        out.write(QByteArray::fromStdString(project_json({{example_scenario()}, 0})));
    }
    const WindowDriver driver;  // for its settings
    MainWindow window(recovery);
    window.show();
    {
        const LittleSpace full;
        answer_next(QMessageBox::Yes);
        window.start({});
    }
    CHECK(window.stack().current() == example_scenario());
    CHECK(window.isWindowModified());
    CHECK(QFile::exists(file));
    REQUIRE(!warnings(window).isEmpty());
    CHECK(warnings(window)[0].contains(QStringLiteral("cannot be written")));
}

TEST_CASE("robust: a full disk while exporting is one sentence, and no half of a file",
          "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    auto* const exports = window.findChild<Exports*>();
    REQUIRE(exports != nullptr);
    QSignalSpy failed(exports, &Exports::failed), written(exports, &Exports::written);
    {
        const LittleSpace full;
        exports->writeSvg(driver.file("a.svg"));
        exports->writeCsv(driver.file("a.csv"));
        exports->writePng(driver.file("a.png"));
        exports->writeHtml(driver.file("a.html"));
        REQUIRE(test::wait_until([&] { return failed.count() == 4; }));
    }
    CHECK(written.count() == 0);
    for (const char* name : {"a.svg", "a.csv", "a.png", "a.html"})
        CHECK(!QFile::exists(driver.file(name)));
    for (const auto& one : failed)
        CHECK(one[0].toString().contains(QStringLiteral("cannot be written")));
}
