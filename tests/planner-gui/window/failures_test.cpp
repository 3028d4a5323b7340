// A long job that cannot be done says so on the page that asked; what that page shows stays.
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabWidget>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/answers.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::small_scenario;
using test::WindowDriver;

namespace {

constexpr const char* kMachine = "h200-pcie5-16vcpu-128gib";  // a run on it is measured
constexpr const char* kRun =
    SLUICE_SOURCE_DIR "/validation/h200-pcie5-16vcpu-128gib/held-out/7b-batch-8.json";

/// The label that is shown on the page; nullptr where none is.
QLabel* failure(const QWidget& page) {
    for (QLabel* const label : page.findChildren<QLabel*>(QStringLiteral("failure")))
        if (label->isVisible()) return label;
    return nullptr;
}

QPushButton* button(const QWidget& page, const char* text) {
    for (QPushButton* const one : page.findChildren<QPushButton*>())
        if (one->text().remove(QLatin1Char('&')).startsWith(QString::fromLatin1(text)) &&
            qobject_cast<OutdatedNote*>(one->parentWidget()) == nullptr)
            return one;
    FAIL("no button " << text);
    return nullptr;
}

/// A window, and what its session says.
struct Window {
    Window()
        : failed(&driver.window->session(), &PlannerSession::failed),
          finished(&driver.window->session(), &PlannerSession::finished) {
        driver.open(small_scenario(4, kMachine));
    }
    Pages& pages() const { return driver.window->pages(); }

    /// Presses a button of a page; returns when that has ended.
    void run(QWidget& page, const char* text) {
        pages().setCurrentWidget(&page);
        const qsizetype before = failed.count() + finished.count();
        QTest::mouseClick(button(page, text), Qt::LeftButton);
        REQUIRE(test::wait_until([&] { return failed.count() + finished.count() > before; }));
    }
    /// The page shows the sentence of the failure and nothing else does; its table is still that.
    template <typename Page>
    void check_failed(const Page& page, const QString& table) const {
        REQUIRE(failed.count() == 1);
        const QString sentence = failed.front()[1].toString();
        CHECK(sentence.contains(QStringLiteral("--batch is many")));
        const QLabel* const label = failure(page);
        REQUIRE(label != nullptr);
        CHECK(label->text().startsWith(without_flags(sentence) + QLatin1Char('\n')));
        CHECK(label->text().contains(QStringLiteral("earlier answer")));
        CHECK(label->accessibleName() == label->text());
        CHECK(label->palette().color(QPalette::WindowText) ==
              qcolor(colours_of(page.palette()).waiting));
        CHECK(page.csv() == table);
        CHECK(!table.isEmpty());
        CHECK(driver.window->statusBar()->currentMessage().isEmpty());
    }
    void break_scenario() {
        failed.clear();
        finished.clear();
        driver.type("batch", "many");
        REQUIRE(test::wait_until([&] { return driver.window->prediction() == nullptr; }));
    }
    void mend_scenario() {
        driver.type("batch", "4");
        driver.settled();
    }

    WindowDriver driver;
    QSignalSpy failed, finished;
};

}  // namespace

TEST_CASE("failures: of the comparison of systems", "[window]") {
    Window window;
    ComparePage& page = window.pages().compare();
    page.findChild<QTabWidget*>()->setCurrentIndex(1);
    window.run(page, "Compare");
    const QString table = page.csv();
    CHECK(failure(page) == nullptr);
    window.break_scenario();
    window.run(page, "Compare");
    window.check_failed(page, table);
    CHECK(button(page, "Compare")->isEnabled());
    window.mend_scenario();
    window.run(page, "Compare");
    CHECK(failure(page) == nullptr);
}

TEST_CASE("failures: of a sensitivity", "[window]") {
    Window window;
    BarsPage& page = window.pages().sensitivity();
    window.run(page, "Try");
    const QString table = page.csv();
    window.break_scenario();
    window.run(page, "Try");
    window.check_failed(page, table);
    window.mend_scenario();
    window.run(page, "Try");
    CHECK(failure(page) == nullptr);
}

TEST_CASE("failures: of a heat map, whose cells are adopted as they were", "[window]") {
    Window window;
    ExplorePage& page = window.pages().explore();
    const auto editors = page.findChildren<AxisEditor*>();
    editors[0]->valuesEdit()->setText(QStringLiteral("4,8"));
    editors[1]->valuesEdit()->setText(QStringLiteral("128,256"));
    window.run(page, "Run");
    CHECK(page.map().computed() == 4);
    const QString table = page.csv();
    window.break_scenario();
    window.run(page, "Run");
    window.check_failed(page, table);
    CHECK(!page.isBusy());
    Q_EMIT page.adopted({1, 0});
    const auto adopted = window.driver.settled();
    CHECK(adopted->planned.training.at("batch") == "8");
    CHECK(adopted->planned.training.at("seq") == "128");
    window.run(page, "Run");
    CHECK(failure(page) == nullptr);
}

TEST_CASE("failures: of the machines", "[window]") {
    Window window;
    ParetoPage& page = window.pages().pareto();
    window.pages().setCurrentWidget(&page);
    QTest::mouseClick(button(page, "Run"), Qt::LeftButton);
    REQUIRE(test::wait_until([&] { return page.rows().size() > 2; }));
    QTest::mouseClick(button(page, "Stop"), Qt::LeftButton);
    const QString table = page.csv();
    window.break_scenario();
    window.run(page, "Run");
    window.check_failed(page, table);
    CHECK(!page.isBusy());
    window.mend_scenario();
    const QSignalSpy cleared(page.findChild<TableModel*>(), &QAbstractItemModel::modelReset);
    QTest::mouseClick(button(page, "Run"), Qt::LeftButton);
    CHECK(failure(page) == nullptr);
    REQUIRE(test::wait_until([&] { return cleared.count() > 0; }));
    QTest::mouseClick(button(page, "Stop"), Qt::LeftButton);
}

TEST_CASE("failures: of measured runs, with those that are shown", "[window]") {
    Window window;
    ValidationPage& page = window.pages().validation();
    const auto open = [&](const QString& file) {
        const test::FileAnswer answer(file);
        window.run(page, "Open reports");
        CHECK(answer.given());
    };
    open(QString::fromLatin1(kRun));
    const QString table = page.csv();
    CHECK(!table.isEmpty());
    const QString other = window.driver.file("other.json");
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/models/gpt2.json"), other));
    open(other);
    REQUIRE(window.failed.count() == 1);
    const QString sentence = window.failed.front()[1].toString();
    CHECK(sentence.startsWith(other));
    REQUIRE(failure(page) != nullptr);
    CHECK(failure(page)->text().startsWith(without_flags(sentence)));
    CHECK(page.csv() == table);

    TimelinePage& timeline = window.pages().timeline();
    {
        const test::FileAnswer answer(other);
        window.run(timeline, "Show a measured report");
        CHECK(answer.given());
    }
    REQUIRE(failure(timeline) != nullptr);
    CHECK(failure(timeline)->text() == without_flags(window.failed.back()[1].toString()));
    {
        const test::FileAnswer answer(QString::fromLatin1(kRun));
        window.run(timeline, "Show a measured report");
        CHECK(answer.given());
    }
    CHECK(failure(timeline) == nullptr);
    CHECK(button(timeline, "Remove the measured")->isVisible());
}
