// Which machine should train this model? A person who does not know the command line uses the
// window and gets the numbers of `sluice predict`, to the displayed digit.
#include <fmt/format.h>

#include <QListView>
#include <QSvgRenderer>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QWindow>

#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/start_page.h"
#include "sim/answers/cost/cost.h"
#include "sim/base/format.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/file_content.h"

using namespace sluice;
using test::content;
using test::shown;
using test::WindowDriver;

namespace {

QString text(const std::string& of) { return QString::fromStdString(of); }

QString band(const nlohmann::json& answer, const std::string& key,
             const std::function<std::string(double)>& format) {
    return QStringLiteral("5 to 95%: %1 to %2")
        .arg(text(format(answer[key + "_5_percent"].get<double>())),
             text(format(answer[key + "_95_percent"].get<double>())));
}

/// The window shows the same numbers for a scenario as the command line.
void check_verdict(const WindowDriver& driver, const QString& scenario) {
    const auto cli = test::printed_json({QStringLiteral("predict"), QStringLiteral("--json"),
                                         QStringLiteral("--scenario"), scenario});
    const auto cost = test::printed_json(
        {QStringLiteral("cost"), QStringLiteral("--json"), QStringLiteral("--scenario"), scenario});
    INFO(scenario.toStdString());
    const MainWindow& window = *driver.window;
    driver.settled();
    const auto& memory = cli["memory"];
    const auto bytes = [&](const char* tier, const char* key) {
        return text(format_bytes(memory[tier][key].get<double>()));
    };
    CHECK(shown(window, "headline")
              .contains(cli["fits"].get<bool>() ? QStringLiteral("Fits")
                                                : QStringLiteral("Does not fit")));
    for (const char* tier : {"device", "host"})
        CHECK(shown(window, "detail")
                  .contains(QStringLiteral("%1 %2 of %3")
                                .arg(QString::fromLatin1(tier), bytes(tier, "peak_bytes"),
                                     bytes(tier, "usable_bytes"))));
    CHECK(shown(window, "speed") ==
          text(format_thousands(cli["tokens_per_s"].get<double>())) + QStringLiteral(" tokens/s"));
    CHECK(shown(window, "speed_more") == band(cli, "tokens_per_s", format_thousands));
    CHECK(shown(window, "price") == text(format_usd(cli["usd_per_million_tokens"].get<double>())) +
                                        QStringLiteral(" a million tokens"));
    CHECK(shown(window, "price_more")
              .startsWith(text(format_usd(cost["payment"]["usd_per_hour"].get<double>()))));
    CHECK(shown(window, "days") == text(format_days({cost["days"]["value"].get<double>()})));
    CHECK(shown(window, "days_more")
              .startsWith(text(format_usd(cost["payment"]["run_usd"]["value"].get<double>()))));
    const bool is_ceiling = cost["energy"]["counts"] == "GPU and host at full power";
    const auto& kwh = cost["energy"]["run_kwh"];
    CHECK(shown(window, "energy") == text(fmt::format("{:.3g} kWh", kwh["value"].get<double>())));
    CHECK(shown(window, "energy_more").endsWith(QStringLiteral(" at full power")) == is_ceiling);
    CHECK(shown(window, "bound")
              .startsWith(QStringLiteral("Bound by ") +
                          text(cli["bottleneck_words"].get<std::string>())));
    CHECK(shown(window, "confidence").contains(text(cli["confidence"].get<std::string>())));
}

/// The column of a scenario in the table of all.
QStringList column_of(const ComparePage& page, const QString& name) {
    const auto tables = page.findChildren<QTableView*>();
    for (const QTableView* table : tables) {
        const QAbstractItemModel& model = *table->model();
        for (int column = 0; column < model.columnCount(); ++column) {
            if (model.headerData(column, Qt::Horizontal).toString() != name) continue;
            QStringList out;
            for (int row = 0; row < model.rowCount(); ++row)
                out << model.headerData(row, Qt::Vertical).toString() + QStringLiteral(": ") +
                           model.index(row, column).data().toString();
            return out;
        }
    }
    return {};
}

void press(MainWindow& window, const char* name) {
    for (QToolButton* const button : window.findChildren<QToolButton*>())
        if (button->text() == QString::fromLatin1(name)) {
            QTest::mouseClick(button, Qt::LeftButton);
            return;
        }
    FAIL("no button " << name);
}

void click_tab(Pages& pages, QWidget* page) {
    QTabBar* const bar = pages.tabBar();
    QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier,
                      bar->tabRect(pages.indexOf(page)).center());
    REQUIRE(pages.currentWidget() == page);
}

void pick_and_lack_memory(const WindowDriver& driver) {
    MainWindow& window = *driver.window;
    driver.type("model", "qwen2.5-14b");
    driver.type("machine", "h200-sxm-pcie5-1.5tb");
    driver.type("batch", "32");
    driver.type("micro_batch", "");
    CHECK(driver.settled()->report().plan.fit.fits());
    for (const char* memory : {"512GB", "256GB", "128GB"}) {
        driver.type("host_memory", memory);
        if (!driver.settled()->report().plan.fit.fits()) break;
    }
    const auto lacking = driver.settled();
    REQUIRE(!lacking->report().plan.fit.fits());
    CHECK(lacking->planned.machine.host_memory == "128GB");
    const auto cli = test::printed_json(
        QProcess::splitCommand(text(command_line(lacking->planned)) + QStringLiteral(" --json"))
            .mid(1));
    const double by = cli["memory"]["host"]["short_bytes"].get<double>();
    CHECK(by > 0);
    CHECK(!cli["plan_auto"].is_null());
    CHECK(
        shown(window, "headline") ==
        QStringLiteral("\u2713 Fits with other settings; with these it is short %1 of host memory")
            .arg(text(format_bytes(by))));
}

void adopt_first_suggestion(const WindowDriver& driver) {
    const auto buttons =
        driver.window->verdict().findChildren<QPushButton*>(QStringLiteral("suggestion"));
    REQUIRE(!buttons.empty());
    QTest::mouseClick(buttons.front(), Qt::LeftButton);
    CHECK(driver.settled()->report().plan.fit.fits());
    CHECK(shown(*driver.window, "headline") == QStringLiteral("\u2713 Fits"));
}

}  // namespace

TEST_CASE("end to end: from a model to a machine, files that say why, the command line's numbers",
          "[end_to_end]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    REQUIRE(test::wait_until([&] { return window.windowHandle()->isExposed(); }));
    window.start({});
    Q_EMIT window.startPage().detailsWanted();
    driver.settled();
    pick_and_lack_memory(driver);
    adopt_first_suggestion(driver);
    // Short enough for the head of a column.
    window.stack().rename(window.stack().currentIndex(), QStringLiteral("enough memory"));
    const std::string first = window.stack().current().name;

    press(window, "Duplicate");
    REQUIRE(window.stack().count() == 3);
    driver.type("host_memory", "");
    driver.type("machine", "gh200-480gb");
    CHECK(driver.settled()->report().plan.fit.fits());
    const std::string second = window.stack().current().name;

    Pages& pages = window.pages();
    click_tab(pages, &pages.compare());
    REQUIRE(test::wait_until([&] {
        return !column_of(pages.compare(), text(first)).isEmpty() &&
               !column_of(pages.compare(), text(second)).isEmpty();
    }));

    test::choose(window, "Page as CSV...", driver.file("compare.csv"));
    test::choose(window, "Page as SVG...", driver.file("compare.svg"));
    click_tab(pages, &pages.timeline());
    test::choose(window, "Page as SVG...", driver.file("timeline.svg"));
    test::choose(window, "Report as HTML...", driver.file("report.html"));
    test::choose(window, "Save as...", driver.file("machines.json"));
    REQUIRE(QFileInfo(driver.file("machines.json")).size() > 0);
    CHECK(!window.isWindowModified());
    REQUIRE(test::wait_until([&] { return QFileInfo(driver.file("report.html")).size() > 0; }));

    const QByteArray html = content(driver.file("report.html")),
                     csv = content(driver.file("compare.csv"));
    for (const auto& [index, name] : {std::pair(1, first), std::pair(2, second)}) {
        const QString scenario = driver.file("machines.json") + QLatin1Char(':') + text(name);
        const auto cli = test::printed_json({QStringLiteral("predict"), QStringLiteral("--json"),
                                             QStringLiteral("--scenario"), scenario});
        const QString speed = text(format_thousands(cli["tokens_per_s"].get<double>()));
        CHECK(
            column_of(pages.compare(), text(name)).contains(QStringLiteral("Tokens/s: ") + speed));
        CHECK(csv.contains(fmt::format("{:.10g}", cli["tokens_per_s"].get<double>()).c_str()));
        window.stack().setCurrent(index);
        check_verdict(driver, scenario);
    }
    CHECK(html.contains("gh200-480gb"));
    // The report is of the settings of the scenario that was in front.
    const auto newest = driver.settled();
    CHECK(html.contains(format_thousands(newest->report().tokens_per_s()).c_str()));
    for (const char* picture : {"compare.svg", "timeline.svg"})
        CHECK(QSvgRenderer(content(driver.file(picture))).isValid());

    SECTION("reopened, it says the same") {
        const QString project = driver.file("machines.json");
        const std::vector<PlannedScenario> saved = window.stack().project().scenarios;
        test::choose(window, "New");
        CHECK(window.stack().count() == 1);
        CHECK(window.startPage().isVisible());
        window.stack().setSaved();
        test::choose(window, "Open...", project);
        CHECK(window.stack().project().scenarios == saved);
        CHECK(!window.isWindowModified());
        for (const int i : {1, 2}) {
            window.stack().setCurrent(i);
            check_verdict(driver, project + QLatin1Char(':') + text(window.stack().current().name));
        }
    }
}
