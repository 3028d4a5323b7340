// Does the start page say how far an answer came, which task it is for, and whose name it has cut?
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTableView>

#include "planner-gui/window/start_page.h"
#include "sim/answers/search/ways_on_machine.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using Catch::Matchers::Contains;
using test::type;
using test::WindowDriver;

namespace {

/// The label of the page whose text begins so; null: there is none.
QLabel* label(MainWindow& window, const QString& begin) {
    for (QLabel* const one : window.startPage().findChildren<QLabel*>())
        if (one->text().startsWith(begin)) return one;
    return nullptr;
}

void tell_progress(MainWindow& window, int done, int all) {
    Q_EMIT window.session().progress(JobKind::start, done, all);
}

AskedRun saved_run() {
    return {{{"model", "qwen2.5-7b"}, {"task", "pretraining"}, {"tokens", "2B"}, {"seq", "1024"}},
            {test::small_scenario(16), test::small_scenario(32)}};
}

}  // namespace

TEST_CASE("start page: a stopped search says so and how far it came", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    type(window, "model", "qwen2.5-7b");
    QPushButton* const find = window.startPage().findButton();
    find->click();  // what it finds arrives later, since no event is handled here
    RunQuestion question;
    question.model = "qwen2.5-7b";
    Q_EMIT window.session().startTried(
        std::make_shared<const RunWay>(way_of(question, test::small_scenario())));
    tell_progress(window, 12, 41);
    CHECK(label(window, QStringLiteral("qwen2.5-7b: 12 of 41 machines are predicted")));
    const auto* const all = window.startPage().findChild<QTableView*>();
    CHECK(!all->isVisible());
    find->click();
    CHECK(label(window, QStringLiteral("The search was stopped: 12 of 41 machines were tried.")));
    CHECK(label(window, QStringLiteral("Not all ways: 12 of 41 machines were tried; the "
                                       "cheapest first")));
    CHECK(all->isVisible());
}

TEST_CASE("start page: ways of a project are predicted again, no machines", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    window.startPage().setAskedRun(saved_run());
    tell_progress(window, 1, 2);
    CHECK(label(window, QStringLiteral("qwen2.5-7b: 1 of 2 ways are predicted again")));
    window.startPage().findButton()->click();
    CHECK(
        label(window, QStringLiteral("The search was stopped: 1 of 2 ways were predicted again.")));
}

TEST_CASE("start page: a long name is cut, and its tooltip has it whole", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    const QString file = driver.file("our-own-server-of-the-third-rack-in-spring.json");
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json"), file));
    const std::string path = file.toStdString();
    window.start({});
    RunQuestion question;
    question.model = "qwen2.5-7b";
    question.owned = path;
    type(window, "model", "qwen2.5-7b");
    window.startPage().findButton()->click();
    Q_EMIT window.session().startTried(
        std::make_shared<const RunWay>(way_of(question, test::small_scenario(16, path))));
    window.startPage().findButton()->click();
    const QString cut = QStringLiteral("our-own-server-of-the-third...");
    const QLabel* const title = label(window, cut + QStringLiteral(": "));
    REQUIRE(title);
    CHECK(title->toolTip().toStdString() == path);
    const QModelIndex way = window.startPage().findChild<QTableView*>()->model()->index(0, 0);
    CHECK(way.data() == cut);
    CHECK(way.data(Qt::ToolTipRole).toString().toStdString() == path);
}
