// How does the window answer a file that is damaged, of another version or gone? One sentence says
// so, and nothing else changes.
#include <QFile>
#include <QMessageBox>

#include "planner-gui/session/example.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

namespace {

/// Opens it, which fails; returns what the message says. The project is as it was.
QString refused(const WindowDriver& driver, const QString& file) {
    MainWindow& window = *driver.window;
    const Project before = window.stack().project();
    const QString title = window.windowTitle(), kept_in = window.files().file();
    CHECK(!window.openFile(file));
    CHECK(window.stack().project() == before);
    CHECK(window.windowTitle() == title);
    CHECK(window.files().file() == kept_in);
    auto* const box = window.findChild<QMessageBox*>();
    REQUIRE(box != nullptr);
    const QString sentence = box->text();
    box->done(QMessageBox::Ok);
    delete box;
    CHECK(!sentence.contains(QLatin1Char('\n')));
    CHECK(sentence.startsWith(file));
    return sentence;
}

/// A window with a project that was saved, then changed.
WindowDriver& with_work(WindowDriver& driver, const QString& file) {
    MainWindow& window = *driver.window;
    window.openExample();
    REQUIRE(window.saveFile(file));
    driver.type("batch", "32");
    driver.settled();
    CHECK(window.isWindowModified());
    return driver;
}

}  // namespace

TEST_CASE("robust: a project cut short anywhere is refused or whole, and all stays",
          "[robustness]") {
    WindowDriver driver;
    const QString good = driver.file("good.json");
    with_work(driver, good);
    const QByteArray whole = test::content(good);
    const QString cut = driver.file("cut.json");
    for (qsizetype length = 0; length + 2 < whole.size(); length += 37) {
        test::write(cut, whole.left(length));
        CHECK(refused(driver, cut).size() > cut.size() + 10);
    }
}

TEST_CASE("robust: a damaged project is refused with what is wrong in it", "[robustness]") {
    WindowDriver driver;
    const QString good = driver.file("good.json");
    with_work(driver, good);
    const QByteArray whole = test::content(good);
    const QString bad = driver.file("bad.json");
    const auto sentence = [&](const QByteArray& text) {
        test::write(bad, text);
        return refused(driver, bad);
    };
    CHECK(sentence("\x7f"
                   "ELF\x02\x01\x01")
              .contains(QStringLiteral("JSON")));
    CHECK(sentence(QByteArray(whole).replace("\"scenarios\"", "\"scenario\""))
              .contains(QStringLiteral("scenario")));
    CHECK(sentence(QByteArray(whole).replace("\"model\": \"120b\"", "\"model\": 120"))
              .contains(QStringLiteral("model")));
    CHECK(sentence(QByteArray(whole).replace("\"current\": 0", "\"current\": 7"))
              .contains(QStringLiteral("7")));
    CHECK(sentence(QByteArray(whole).replace("\"batch\"", "\"bacth\""))
              .contains(QStringLiteral("bacth")));
}

TEST_CASE("robust: a project of a later version says so", "[robustness]") {
    WindowDriver driver;
    const QString good = driver.file("good.json");
    with_work(driver, good);
    const QString later = driver.file("later.json");
    test::write(later, test::content(good).replace("\"version\": 1", "\"version\": 9"));
    const QString sentence = refused(driver, later);
    CHECK(sentence.contains(QStringLiteral("version")));
    CHECK(sentence.contains(QLatin1Char('9')));
}

TEST_CASE("robust: a folder and a file that is gone are refused", "[robustness]") {
    WindowDriver driver;
    with_work(driver, driver.file("good.json"));
    refused(driver, driver.folder.path());
    refused(driver, driver.file("gone.json"));
}

TEST_CASE("robust: a machine's profile that is gone is one sentence; all that was typed stays",
          "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString profile = driver.file("mine.json");
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json"), profile));
    PlannedScenario mine = example_scenario();
    mine.model.model = "qwen2.5-7b";
    mine.machine = {profile.toStdString(), {}, {}};
    mine.training = {{"batch", "16"}};
    const auto there = driver.open(mine);
    window.stack().duplicate(0);
    driver.type("machine", "h200-sxm-pcie5-1.5tb");
    driver.settled();
    window.stack().setCurrent(0);
    const QString project = driver.file("project.json");
    REQUIRE(window.saveFile(project));

    REQUIRE(QFile::remove(profile));
    REQUIRE(window.openFile(project));
    FieldRow* const machine = window.form().row(QStringLiteral("machine"));
    REQUIRE(test::wait_until([&] { return !machine->mistake().isEmpty(); }));
    CHECK(machine->mistake().contains(profile));
    CHECK(window.verdict().headline() == QStringLiteral("No prediction"));
    CHECK(machine->text() == profile);
    CHECK(window.stack().current().training.at("batch") == "16");
    CHECK(!window.isWindowModified());
    window.stack().setCurrent(1);  // the others are as good as ever
    CHECK(driver.settled()->planned.machine.machine == "h200-sxm-pcie5-1.5tb");
    CHECK(machine->mistake().isEmpty());

    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json"), profile));
    window.stack().setCurrent(0);
    CHECK(driver.settled()->report().step.seconds == there->report().step.seconds);
}
