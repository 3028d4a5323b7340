// The window from a model to a decision: each page asks the session and shows what comes back.
#include "planner-gui/window/pages.h"

#include <QSignalSpy>
#include <algorithm>

#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/outdated_note.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/sensitivity_page.h"
#include "planner-gui/pages/systems_part.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/page_values.h"
#include "sim/answers/compare/findings.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::content;
using test::small_scenario;
using test::WindowDriver;

TEST_CASE("pages: machines with systems come row by row, and one of them is adopted", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario buffered = small_scenario();
    buffered.model.layers = "3";  // so many predictions take long under sanitizers
    buffered.training["buffer_depth"] = "3";
    driver.open(buffered);
    ParetoPage& page = window.pages().pareto();
    driver.finish(JobKind::machines, [&] { window.pages().showMachines(); });
    CHECK(window.pages().currentWidget() == &page);
    CHECK(!page.isBusy());
    const auto& rows = page.model().rows();
    REQUIRE(rows.size() >= 25 * 8);
    CHECK(rows.front().machine == "h200-sxm-pcie5-1.5tb");
    CHECK(rows.front().step == Approx(driver.settled()->report().step.seconds)
                                   .epsilon(1e-9));  // streamed is the first system
    CHECK(std::none_of(rows.begin(), rows.end(),
                       [](const ParetoRow& row) { return row.machine == "h200-sxm-pcie5"; }));
    Q_EMIT page.adopted(QStringLiteral("h100-sxm-pcie5"), QStringLiteral("zero3-offload"));
    const auto adopted = driver.settled();
    CHECK(adopted->planned.machine.machine == "h100-sxm-pcie5");
    CHECK(!adopted->planned.training.contains("buffer_depth"));  // which that system does not have
    CHECK(adopted->planned.training.at("batch") == "16");
    // It is one of those that were tried, and so is what is adopted next.
    const auto* const note = page.findChild<OutdatedNote*>();
    CHECK(note->isHidden());
    Q_EMIT page.adopted(QStringLiteral("h200-sxm-pcie5-1.5tb"), QStringLiteral("streamed"));
    CHECK(note->isHidden());
    CHECK(driver.settled()->report().step.seconds == Approx(rows.front().step).epsilon(1e-9));
    driver.type("batch", "8");
    CHECK(!note->isHidden());
    while (window.stack().current() != adopted->planned) window.stack().undoStack().undo();
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == buffered);
}

TEST_CASE("pages: a cluster is tried on all machines beside the systems of one GPU", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario planned = small_scenario();
    planned.model.layers = "3";
    planned.machine = {"h100-sxm-pcie5", {}, {}};
    planned.training = {{"schedule", "cluster"}, {"gpus", "8"}, {"batch", "16"}};
    const auto prediction = driver.open(planned);
    ParetoPage& page = window.pages().pareto();
    driver.finish(JobKind::machines, [&] { window.pages().showMachines(); });
    const auto& rows = page.model().rows();
    const auto own = std::find_if(rows.begin(), rows.end(), [](const ParetoRow& row) {
        return row.machine == "h100-sxm-pcie5" && row.system == "cluster";
    });
    REQUIRE(own != rows.end());
    CHECK(own->step == Approx(prediction->report().step.seconds).epsilon(1e-9));
    REQUIRE(prediction->cost.cost);
    CHECK(own->usd_per_hour == prediction->cost.cost->usd_per_hour);
    Q_EMIT page.adopted(QStringLiteral("h100-sxm-pcie5"), QStringLiteral("streamed"));
    CHECK(!driver.settled()->planned.training.contains("gpus"));
    Q_EMIT page.adopted(QStringLiteral("h200-sxm-pcie5"), QStringLiteral("cluster"));
    CHECK(driver.settled()->planned.training.at("gpus") == "8");
}

TEST_CASE("pages: a heat map's cells are the predictions of its settings", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(small_scenario());
    ExplorePage& page = window.pages().explore();
    window.pages().setCurrentWidget(&page);
    const HeatAxis batch{varied_option(training_options()[3]), {8, 16}};
    REQUIRE(batch.number.key == "batch");
    const auto numbers = varied_numbers(Schedule("streamed"));
    const auto memory = std::find_if(numbers.begin(), numbers.end(), [](const auto& number) {
        return number.key == "host.memory_capacity_gb";
    });
    REQUIRE(memory != numbers.end());
    const HeatAxis host{*memory, {16, 1500}};
    page.setAxes(batch, host);
    driver.finish(JobKind::explore, [&] { Q_EMIT page.exploreRequested(batch, host); });
    CHECK(page.map().computed() == 4);
    CHECK(page.map().cell({1, 0}).state == CellState::does_not_fit);
    CHECK(page.map().cell({1, 1}).tokens_per_s ==
          Approx(driver.settled()->report().tokens_per_s()).epsilon(1e-9));
    Q_EMIT page.adopted(page.map().settings({0, 0}));
    const auto adopted = driver.settled();
    CHECK(adopted->planned.training.at("batch") == "8");
    CHECK(adopted->planned.machine.host_memory == "16GB");
    CHECK(adopted->planned.name == small_scenario().name);
    CHECK(!adopted->report().plan.fit.fits());
}

TEST_CASE("pages: two scenarios side by side, with the upgrade and system that are adopted",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(small_scenario());
    ComparePage& page = window.pages().compare();
    window.pages().setCurrentWidget(&page);
    window.stack().duplicate(0);
    const QString second = QString::fromStdString(window.stack().current().name);
    driver.finish(JobKind::compare, [&] { Q_EMIT page.systems().compareRequested(); });
    CHECK(!page.svg().isEmpty());
    Q_EMIT page.systems().adopt({{"schedule", "resident"}}, QStringLiteral("system"));
    const auto resident = driver.settled();
    CHECK(resident->planned.training ==
          std::map<std::string, std::string>{{"batch", "16"}, {"schedule", "resident"}});
    REQUIRE(test::wait_until([&] { return page.csv().contains(second); }));
    Q_EMIT page.scenarioActivated(0);
    CHECK(window.stack().currentIndex() == 0);

    driver.finish(JobKind::sensitivity,
                  [&] { Q_EMIT window.pages().sensitivity().sensitivityRequested(); });
    Q_EMIT window.pages().sensitivity().adopt({{"link.host_to_device_gb_per_s", "110"}},
                                              QStringLiteral("link"));
    Q_EMIT window.pages().sensitivity().adopt({{"link.host_to_device_gb_per_s", "120"}},
                                              QStringLiteral("link"));
    CHECK(driver.settled()->planned.machine.settings ==
          std::vector<std::string>{"link.host_to_device_gb_per_s=120"});
}

TEST_CASE("pages: what is of an earlier scenario is marked, and no longer once it is undone",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    Pages& pages = window.pages();
    driver.open(small_scenario());
    const auto marked = [](QWidget& page) { return !page.findChild<OutdatedNote*>()->isHidden(); };
    const HeatAxis batch{varied_option(training_options()[3]), {8, 16}};
    const HeatAxis layers{varied_option(training_options()[4]), {1, 2}};
    REQUIRE(batch.number.key == "batch");
    pages.explore().setAxes(batch, layers);
    driver.finish(JobKind::explore,
                  [&] { Q_EMIT pages.explore().exploreRequested(batch, layers); });
    driver.finish(JobKind::compare, [&] { Q_EMIT pages.compare().systems().compareRequested(); });
    driver.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().sensitivityRequested(); });
    for (QWidget* const page :
         std::initializer_list<QWidget*>{&pages.explore(), &pages.compare(), &pages.sensitivity()})
        CHECK(!marked(*page));

    window.stack().rename(0, QStringLiteral("another name"));
    CHECK(!marked(pages.sensitivity()));
    driver.type("batch", "8");  // which the map varies
    CHECK(!marked(pages.explore()));
    CHECK(marked(pages.compare()));
    CHECK(marked(pages.sensitivity()));
    driver.type("host_memory", "512GB");
    CHECK(marked(pages.explore()));
    driver.settled();
    CHECK(marked(pages.explore()));
    driver.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().sensitivityRequested(); });
    CHECK(!marked(pages.sensitivity()));
    while (window.stack().undoStack().canUndo()) window.stack().undoStack().undo();
    CHECK(!marked(pages.explore()));
    CHECK(!marked(pages.compare()));
    CHECK(marked(pages.sensitivity()));

    // An upgrade is one of the machine that it was found for.
    driver.type("machine", "gh200-480gb");
    driver.settled();
    Q_EMIT pages.sensitivity().adopt({{"link.host_to_device_gb_per_s", "110"}},
                                     QStringLiteral("link"));
    const PlannedScenario adopted = driver.settled()->planned;
    CHECK(adopted.machine.machine == small_scenario().machine.machine);
    CHECK(adopted.machine.host_memory == "512GB");
    CHECK(adopted.machine.settings == std::vector<std::string>{"link.host_to_device_gb_per_s=110"});
    CHECK(adopted.name == window.stack().current().name);
}

TEST_CASE("pages: a system is adopted with the settings that make its batch fit", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario large = small_scenario(256);
    large.training["schedule"] = "zero3-offload";
    large.training["seq"] = "4096";
    CHECK(!driver.open(large)->report().plan.fit.fits());
    SystemsPart& part = window.pages().compare().systems();
    std::shared_ptr<const Comparison> found;
    QObject::connect(&window.session(), &PlannerSession::compared, &window,
                     [&](const auto& comparison) { found = comparison; });
    driver.finish(JobKind::compare, [&] { Q_EMIT part.compareRequested(); });
    const auto system = std::ranges::find_if(
        found->systems, [](const ComparedSystem& one) { return one.name == "zero3-offload"; });
    REQUIRE(system != found->systems.end());
    REQUIRE(system->short_of_whole_batch > 0);
    Q_EMIT part.adopt(system_settings(*system), QStringLiteral("system"));
    const auto adopted = driver.settled();
    CHECK(adopted->report().plan.fit.fits());
    CHECK(adopted->report().step.seconds == Approx(system->report.step.seconds).epsilon(1e-9));
}

TEST_CASE("pages: pictures, tables and the report leave as files", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(small_scenario());
    auto* const exports = window.findChild<Exports*>();
    REQUIRE(exports != nullptr);
    QSignalSpy written(exports, &Exports::written), failed(exports, &Exports::failed);
    window.pages().setCurrentWidget(&window.pages().timeline());
    CHECK(window.pages().name() == QStringLiteral("timeline"));
    exports->writeSvg(driver.file("page.svg"));
    exports->writeCsv(driver.file("page.csv"));
    exports->writePng(driver.file("page.png"));
    CHECK(written.count() == 3);
    CHECK(content(driver.file("page.svg")).contains("<svg"));
    CHECK(content(driver.file("page.csv")).contains(','));
    CHECK(content(driver.file("page.png")).startsWith("\x89PNG"));

    window.stack().add(small_scenario(16, "gh200-480gb"));
    exports->writeHtml(driver.file("report.html"));
    exports->writePdf(driver.file("report.pdf"));  // after the other, not instead of it
    REQUIRE(test::wait_until([&] { return written.count() == 5; }));
    const QByteArray html = content(driver.file("report.html"));
    CHECK(html.contains("gh200-480gb"));
    CHECK(html.contains("h200-sxm-pcie5"));
    CHECK(content(driver.file("report.pdf")).startsWith("%PDF"));

    CHECK(failed.count() == 0);
    window.pages().setCurrentWidget(&window.pages().pareto());
    exports->writeCsv(driver.file("no/such/folder/x.csv"));
    CHECK(failed.count() == 1);
}
