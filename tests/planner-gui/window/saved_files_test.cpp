// Under which names are files proposed and written, and when does the window wait for one?
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSvgRenderer>

#include "planner-gui/pages/prediction_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/printed_report.h"
#include "sim/base/json_object.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/small_scenario.h"

using namespace sluice;
using test::answer_next;
using test::content;
using test::WindowDriver;

namespace {

/// The file that the next dialog proposes, which is then declined.
QString proposed(MainWindow& window, const char* entry) {
    QString file;
    test::poll_modal([&file](QWidget* open) {
        auto* const dialog = qobject_cast<QFileDialog*>(open);
        if (dialog == nullptr) return false;
        file = dialog->directory().filePath(
            dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->text());
        dialog->reject();
        return true;
    });
    test::choose(window, entry);
    return file;
}

void protect(const QString& file) { REQUIRE(QFile::setPermissions(file, QFile::ReadOwner)); }

Exports& exports_of(const MainWindow& window) {
    auto* const exports = window.findChild<Exports*>();
    REQUIRE(exports != nullptr);
    return *exports;
}

}  // namespace

TEST_CASE("saved: a scenario's name becomes that of a file", "[window]") {
    const auto safe = [](const char* name) {
        return safe_file_name(QString::fromUtf8(name)).toStdString();
    };
    CHECK(safe("120 B on one H200") == "120 B on one H200");
    CHECK(safe("7B/8B: \"cheap\"?") == "7B-8B- -cheap--");
    CHECK(safe("  two\n lines\t") == "two lines");
    CHECK(safe("...") == "scenario");
    CHECK(safe("..\\up") == "-up");
    CHECK(safe("") == "scenario");
    CHECK(safe("ends with a dot.") == "ends with a dot");
    CHECK(safe("\u5927\u578b") == "\u5927\u578b");
    const QString longest = safe_file_name(QString(500, QChar(0x5927)));
    CHECK(longest.toUtf8().size() <= 250);
}

TEST_CASE("saved: dialogs propose the scenario's name, in the folder used last", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    driver.settled();
    window.stack().rename(0, QStringLiteral("120 B / one H200"));
    const auto in = [&](const char* name) {
        return driver.folder.filePath(QString::fromLatin1(name));
    };
    CHECK(QFileInfo(proposed(window, "Save as...")).fileName() ==
          QStringLiteral("120 B - one H200.json"));
    test::choose(window, "Page as CSV...", in("table.csv"));
    CHECK(proposed(window, "Save as...") == in("120 B - one H200.json"));
    CHECK(proposed(window, "Report as HTML...") == in("120 B - one H200.html"));
    CHECK(proposed(window, "Report as PDF...") == in("120 B - one H200.pdf"));
    CHECK(proposed(window, "Page as SVG...") == in("timeline - 120 B - one H200.svg"));
    CHECK(proposed(window, "Page as PDF...") == in("timeline - 120 B - one H200.pdf"));
    CHECK(proposed(window, "Page as PNG...") == in("timeline - 120 B - one H200.png"));

    QDir().mkpath(in("projects"));
    REQUIRE(window.saveFile(in("projects/project.json")));
    CHECK(proposed(window, "Save as...") == in("projects/project.json"));
    CHECK(proposed(window, "Page as CSV...") == in("projects/timeline - 120 B - one H200.csv"));
}

TEST_CASE("saved: a write-protected project stays, and another name is offered", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const QString file = driver.folder.filePath(QStringLiteral("kept.json")),
                  beside = driver.folder.filePath(QStringLiteral("beside.json"));
    REQUIRE(window.saveFile(file));
    protect(file);
    const QByteArray before = content(file);
    driver.type("batch", "32");

    QString said;
    test::poll_modal([&said](QWidget* open) {
        auto* const box = qobject_cast<QMessageBox*>(open);
        if (box == nullptr) return false;
        said = box->text();
        QTest::mouseClick(box->button(QMessageBox::Cancel), Qt::LeftButton);
        return true;
    });
    CHECK(!window.saveFile(file));
    CHECK(said.startsWith(file + QStringLiteral(" is write-protected")));
    CHECK(content(file) == before);
    CHECK(window.isWindowModified());

    answer_next(QStringLiteral("Save as"));
    const test::FileAnswer answer(beside);
    CHECK(window.saveFile(file));
    CHECK(answer.given());
    CHECK(content(file) == before);
    CHECK(read_planned_scenario(beside.toStdString()).training.at("batch") == "32");
    CHECK(!window.isWindowModified());
}

TEST_CASE("saved: the end of the chosen name decides what is written", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(test::small_scenario());
    window.pages().setCurrentWidget(&window.pages().timeline());
    const auto in = [&](const char* name) {
        return driver.folder.filePath(QString::fromLatin1(name));
    };
    const auto begins = [](const QString& file, const char* bytes) {
        return test::wait_until([&] { return QFileInfo(file).size() > 0; }) &&
               content(file).startsWith(bytes);
    };
    test::choose(window, "Report as PDF...", in("report.html"));
    CHECK(begins(in("report.html"), "<!DOCTYPE html>"));
    test::choose(window, "Report as HTML...", in("report.pdf"));
    CHECK(begins(in("report.pdf"), "%PDF"));
    test::choose(window, "Page as CSV...", in("page.PNG"));
    CHECK(begins(in("page.PNG"), "\x89PNG"));
    // Text after the dot of a model's name is no kind of file.
    test::choose(window, "Page as SVG...", in("qwen2.5-72b"));
    CHECK(begins(in("qwen2.5-72b.svg"), "<svg"));
    CHECK(!QFile::exists(in("qwen2.5-72b")));
    QString said;
    test::poll_modal([&said](QWidget* open) {
        auto* const box = qobject_cast<QMessageBox*>(open);
        if (box == nullptr) return false;
        said = box->text();
        for (QAbstractButton* const button : box->buttons())
            if (button->text().contains(QStringLiteral("Overwrite")))
                QTest::mouseClick(button, Qt::LeftButton);
        return true;
    });
    test::choose(window, "Page as CSV...", in("qwen2.5-72b"));
    CHECK(begins(in("qwen2.5-72b.csv"), "step,"));
    test::choose(window, "Page as SVG...", in("qwen2.5-72b"));
    CHECK(said == in("qwen2.5-72b.svg") + QStringLiteral(" exists."));
}

TEST_CASE("saved: no export replaces a write-protected file", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    driver.settled();
    const QString file = driver.folder.filePath(QStringLiteral("kept.csv"));
    test::choose(window, "Page as CSV...", file);
    const QByteArray before = content(file);
    protect(file);
    driver.type("batch", "32");
    driver.settled();
    bool replaced = false, told = false;
    test::poll_modal([&](QWidget* open) {
        auto* const box = qobject_cast<QMessageBox*>(open);
        if (box == nullptr) return false;
        if (QAbstractButton* const yes = box->button(QMessageBox::Yes)) {
            replaced = true;  // the dialog's question
            QTest::mouseClick(yes, Qt::LeftButton);
            return false;
        }
        told = box->text().contains(QStringLiteral("is write-protected"));
        QTest::mouseClick(box->button(QMessageBox::Cancel), Qt::LeftButton);
        return true;
    });
    {
        const test::FileAnswer answer(file);
        test::find_action(window.menuBar()->actions(), QStringLiteral("Page as CSV..."))->trigger();
        CHECK(answer.given());
    }
    CHECK(replaced);
    CHECK(told);
    CHECK(content(file) == before);
}

TEST_CASE("saved: the picture of a page as PDF, on one page of its size", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    Exports& exports = exports_of(window);
    QSignalSpy written(&exports, &Exports::written), failed(&exports, &Exports::failed);
    exports.writePagePdf(driver.folder.filePath(QStringLiteral("none.pdf")));
    REQUIRE(failed.count() == 1);
    CHECK(failed.front().front().toString().contains(QStringLiteral("no picture now")));
    CHECK(!exports.isWriting());
    window.openExample();
    driver.settled();
    for (QWidget* const page :
         std::initializer_list<QWidget*>{&window.pages().timeline(), &window.pages().memory()}) {
        window.pages().setCurrentWidget(page);
        written.clear();
        const QString file = driver.folder.filePath(window.pages().name() + QStringLiteral(".pdf"));
        test::choose(window, "Page as PDF...", file);
        REQUIRE(test::wait_until([&] { return written.count() == 1; }));
        const QString pdf = QString::fromLatin1(content(file));
        CHECK(pdf.startsWith(QStringLiteral("%PDF")));
        CHECK(pdf.count(QStringLiteral("/Type /Page\n")) == 1);
        CHECK(!pdf.contains(QStringLiteral("/Subtype /Image")));  // lines, no pixels
        CHECK(pdf.size() > 2 * picture_pdf("<svg width=\"99\" height=\"99\"/>", {}).size());
        static const QRegularExpression box(
            QStringLiteral(R"(/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\])"));
        const QRegularExpressionMatch found = box.match(pdf);
        REQUIRE(found.hasMatch());
        const QSizeF size = QSizeF(QSvgRenderer(window.pages().svg()).defaultSize()) * 0.75;
        CHECK(found.captured(1).toDouble() == Approx(size.width()).margin(1));
        CHECK(found.captured(2).toDouble() == Approx(size.height()).margin(1));
    }
    CHECK(failed.count() == 1);
}

TEST_CASE("saved: a report that is being written is waited for, or dropped knowingly", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(test::small_scenario());
    Exports& exports = exports_of(window);
    const auto in = [&](const char* name) {
        return driver.folder.filePath(QString::fromLatin1(name));
    };
    const QString html = in("report.html"), pdf = in("report.pdf");

    SECTION("waited for") {
        exports.writeHtml(html);
        exports.writePdf(pdf);
        REQUIRE(exports.isWriting());
        answer_next(QStringLiteral("Wait"));
        CHECK(!window.close());
        CHECK(window.isVisible());
        REQUIRE(test::wait_until([&] { return !window.isVisible(); }));
        CHECK(content(html).contains("<html"));
        CHECK(content(pdf).startsWith("%PDF"));
    }
    SECTION("waited for, and what is not saved is asked for then") {
        exports.writeHtml(html);
        answer_next(QStringLiteral("Wait"));
        CHECK(!window.close());
        driver.type("batch", "32");
        answer_next(QMessageBox::Discard);
        REQUIRE(test::wait_until([&] { return !window.isVisible(); }));
        CHECK(QFile::exists(html));
    }
    SECTION("dropped") {
        exports.writeHtml(html);
        answer_next(QStringLiteral("Discard"));
        CHECK(window.close());
        CHECK(!QFile::exists(html));
    }
    SECTION("not written at last, the window stays and says why") {
        exports.writeHtml(in("no/such/folder.html"));
        QSignalSpy failed(&exports, &Exports::failed);
        answer_next(QStringLiteral("Wait"));
        CHECK(!window.close());
        REQUIRE(test::wait_until([&] { return failed.count() == 1; }));
        CHECK(window.isVisible());
        CHECK(!exports.isWriting());
        CHECK(window.close());  // nothing is left to wait for
    }
    SECTION("written, it is no question") {
        exports.writeHtml(html);
        REQUIRE(test::wait_until([&] { return !exports.isWriting(); }));
        CHECK(window.close());
    }
}
