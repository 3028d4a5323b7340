// Is an exported page opened again, with what the window showed?
#include <QFile>
#include <QTextBrowser>

#include "planner-gui/session/session_jobs.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/help_window.h"
#include "planner-gui/window/printed_report.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::content;
using test::small_scenario;
using test::WindowDriver;

TEST_CASE("shared page: the window opens what it exported", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario first = small_scenario();
    first.name = "first </script>";
    first.training["keep_last_layers"] = "1";
    const auto before = driver.open(first);
    PlannedScenario second = small_scenario(32, "gh200-480gb");
    second.name = "second";
    window.stack().add(second);
    window.stack().setCurrent(0);
    const QString page = driver.file("page.html");
    window.findChild<Exports*>()->writeHtml(page);
    REQUIRE(test::wait_until([&] { return QFile::exists(page); }));
    const std::string html = content(page).toStdString();
    CHECK_THAT(html,
               ContainsSubstring("Last layers kept 1") && !ContainsSubstring("--keep-last-layers"));

    driver.openExample();
    REQUIRE(window.openFile(page));
    CHECK(window.files().file().isEmpty());  // saving asks for a name
    CHECK(window.stack().count() == 2);
    window.stack().setCurrent(0);
    const auto after = driver.settled();
    CHECK(after->planned.name == first.name);
    CHECK(after->report().step.seconds == before->report().step.seconds);
    CHECK(after->cost.run.usd.value == before->cost.run.usd.value);
    window.stack().setSaved();
}

TEST_CASE("shared page: the report of several scenarios prints on at most six pages", "[window]") {
    std::vector<PlannedScenario> all;
    for (const char* machine : {"gh200-480gb", "h200-sxm-pcie5", "b200-sxm", "b300-sxm",
                                "rtx-pro-6000", "dgx-spark-gb10"})
        all.push_back(small_scenario(16, machine));
    const QString pdf = QString::fromLatin1(report_pdf(decide(decision_request(all.front(), all))));
    const auto pages = pdf.count(QStringLiteral("/Type /Page\n"));
    CHECK(pages >= 2);
    CHECK(pages <= 6);
}

TEST_CASE("help: a tour and the words are there", "[window]") {
    const WindowDriver driver;
    auto* const help = driver.window->findChild<HelpWindow*>();
    REQUIRE(help != nullptr);
    for (const auto& [page, words] : {std::pair("tour", "Find machines"), {"glossary", "knee"}}) {
        help->openPage(QString::fromLatin1(page));
        auto* const shown = help->findChild<QTextBrowser*>(QString::fromLatin1(page));
        CHECK(shown->isVisible());
        CHECK(shown->toPlainText().contains(QString::fromLatin1(words)));
    }
    help->hide();
}

TEST_CASE("form: offers of the machine are a list, with provider and date", "[window]") {
    const WindowDriver driver;
    PlannedScenario scenario = small_scenario(16, "h200-sxm-pcie5");
    driver.open(scenario);
    auto* const combo =
        qobject_cast<QComboBox*>(driver.window->form().row(QStringLiteral("offer"))->editor());
    REQUIRE(combo != nullptr);
    const int place = combo->findText(QStringLiteral("Nebius on-demand"));
    REQUIRE(place >= 0);
    CHECK(combo->itemData(place, Qt::UserRole).toString().contains(QStringLiteral("2026-05-25")));
    combo->setCurrentIndex(place);
    const auto now = driver.settled();
    CHECK(now->planned.money.at("offer") == "Nebius on-demand");
    CHECK(now->cost.payment->name == "Nebius on-demand");
    driver.window->stack().setSaved();
}
