// Files that are dropped on the window or chosen in a dialog, and what is printed.
#include <QDir>
#include <QFile>
#include <QPainter>
#include <QPrinter>
#include <QSignalSpy>

#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/pages.h"
#include "sim/base/write_file.h"
#include "tests/planner-gui/dropped.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/window/answers.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::content;
using test::drop;
using test::WindowDriver;

namespace {

const QString kConfig = QStringLiteral(SLUICE_SOURCE_DIR "/models/qwen2.5-7b.json");
const QString kProfile = QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json");

void press(const QWidget& in, const QString& tooltip) {
    for (QAbstractButton* const button : in.findChildren<QAbstractButton*>())
        if (button->toolTip() == tooltip || button->text().remove(QLatin1Char('&')) == tooltip)
            return QTest::mouseClick(button, Qt::LeftButton);
    FAIL("no button " << tooltip.toStdString());
}

}  // namespace

TEST_CASE("dropped: a config.json, a checkpoint's folder, a profile, a project", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const QString config = driver.file("model/config.json");
    QDir().mkpath(driver.file("model"));
    REQUIRE(QFile::copy(kConfig, config));
    for (const QString& model : {config, driver.file("model")}) {
        CHECK(drop(window, model));
        CHECK(window.stack().current().model.model == model.toStdString());
        CHECK(driver.line("model")->text() == model);
        CHECK(driver.settled()->report().asked.layers == 28);
    }
    CHECK(drop(window, kProfile));
    CHECK(window.stack().current().machine.machine == kProfile.toStdString());
    CHECK(driver.settled()->scenario.profile.id == "gh200-480gb");
    window.stack().undoStack().undo();
    CHECK(window.stack().current().machine == example_scenario().machine);

    const QString project = driver.file("project.json");
    PlannedScenario other = example_scenario();
    other.name = "dropped";
    write_file(project.toStdString(), project_json({{other}, 0}));
    test::answer_next(QMessageBox::Cancel);
    CHECK(drop(window, project));  // there are changes: asked, and not opened
    CHECK(window.stack().current().name != "dropped");
    test::answer_next(QMessageBox::Discard);
    CHECK(drop(window, project));
    CHECK(window.stack().current() == other);
    CHECK(window.files().file() == project);
}

TEST_CASE("dropped: what is no file of the planner says so and changes nothing", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    CHECK(!drop(window, QList<QUrl>()));
    CHECK(!drop(window, QList<QUrl>{QUrl(QStringLiteral("https://example.org/config.json"))}));
    const QString text = driver.file("notes.txt");
    write_file(text.toStdString(), "not JSON");
    CHECK(drop(window, text));
    const auto* const box = window.findChild<QMessageBox*>();
    REQUIRE(box != nullptr);
    CHECK(box->text().startsWith(text));
    CHECK(window.stack().current() == example_scenario());
    CHECK(!window.isWindowModified());
}

TEST_CASE("chosen: model, machine, folder of runs, picture and report", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    const auto press_and_choose = [](const QWidget& in, const char* name, const QString& file) {
        const test::FileAnswer answer(file);
        press(in, QString::fromLatin1(name));
        CHECK(answer.given());
    };
    press_and_choose(window.form(), "Open a Hugging Face config.json", kConfig);
    CHECK(window.stack().current().model.model == kConfig.toStdString());
    press_and_choose(window.form(), "Open a machine's profile", kProfile);
    CHECK(window.stack().current().machine.machine == kProfile.toStdString());
    driver.type("micro_batch", "");
    driver.type("batch", "8");
    driver.settled();

    ValidationPage& runs = window.pages().validation();
    window.pages().setCurrentWidget(&runs);
    QSignalSpy chosen(&runs, &ValidationPage::filesChosen);
    const QString folder = driver.file("runs");
    QDir().mkpath(folder);
    press_and_choose(runs, "Open folder...", folder);
    REQUIRE(chosen.count() == 1);
    CHECK(chosen.front().front().toStringList() == QStringList{folder});

    window.pages().setCurrentWidget(&window.pages().timeline());
    test::choose(window, "Page as PNG...", driver.file("page.png"));
    CHECK(content(driver.file("page.png")).startsWith("\x89PNG"));
    test::choose(window, "Report as PDF...", driver.file("report.pdf"));
    REQUIRE(test::wait_until([&] { return QFile::exists(driver.file("report.pdf")); }));
    CHECK(content(driver.file("report.pdf")).startsWith("%PDF"));
}

TEST_CASE("printed: the page in front, with the scenario's name", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    auto* const exports = window.findChild<Exports*>();
    REQUIRE(exports != nullptr);
    QSignalSpy failed(exports, &Exports::failed);
    exports->choosePrinter();  // nothing is predicted yet: no dialog
    REQUIRE(failed.count() == 1);
    CHECK(failed.front().front().toString().contains(QStringLiteral("no picture now")));

    driver.openExample();
    const QString file = driver.file("page.pdf");
    QPrinter printer(QPrinter::HighResolution);
    printer.setOutputFormat(QPrinter::PdfFormat);
    printer.setOutputFileName(file);
    exports->print(printer);
    const QByteArray pdf = content(file);
    CHECK(pdf.startsWith("%PDF"));
    CHECK(pdf.contains("/Type /Page\n"));
    // A page without the picture is some hundred bytes.
    QPrinter empty(QPrinter::HighResolution);
    empty.setOutputFormat(QPrinter::PdfFormat);
    const QString without = driver.file("empty.pdf");
    empty.setOutputFileName(without);
    QPainter(&empty).drawText(100, 100, QStringLiteral("a"));
    CHECK(pdf.size() > 2 * content(without).size());

    CHECK(failed.count() == 1);
    printer.setOutputFileName(driver.file("no/such/folder.pdf"));
    exports->print(printer);
    REQUIRE(failed.count() == 2);
    CHECK(failed.back().front().toString().contains(QStringLiteral("can be written")));
}

TEST_CASE("printed: a printer is asked for first, and may be declined", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    bool asked = false;
    test::poll_modal([&asked](QWidget* open) {
        auto* const dialog = qobject_cast<QDialog*>(open);
        if (dialog == nullptr) return false;
        asked = dialog->inherits("QPrintDialog");
        dialog->reject();
        return true;
    });
    test::choose(window, "Print...");
    CHECK(asked);
}
