// The window from a model to a decision: each page asks the session and shows what comes back.
#include "planner-gui/window/pages.h"

#include <QSignalSpy>
#include <algorithm>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/exports.h"
#include "sim/report/answers/findings.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::content;
using test::small_scenario;
using test::WindowDriver;

namespace {

/// The row of that machine with that system; -1: none.
int row_of(const ParetoPage& page, const char* machine, const char* system) {
    const auto found = std::ranges::find_if(page.rows(), [&](const MachineSystem& row) {
        return row.machine == machine && row.schedule == system;
    });
    return found == page.rows().end() ? -1 : static_cast<int>(found - page.rows().begin());
}

/// The last answers of the session.
struct Found {
    explicit Found(MainWindow& window) {
        QObject::connect(&window.session(), &PlannerSession::compared, &window,
                         [this](const auto& all) { comparison = all; });
        QObject::connect(&window.session(), &PlannerSession::sensitivityFound, &window,
                         [this](const auto& all) { sensitivity = all; });
    }
    int system(const char* name) const {
        const auto at = std::ranges::find(comparison->systems, name, &ComparedSystem::name);
        REQUIRE(at != comparison->systems.end());
        return static_cast<int>(at - comparison->systems.begin());
    }
    /// The index of a change that sets numbers of the machine.
    int upgrade() const {
        const auto at = std::ranges::find_if(sensitivity->upgrades, [](const Upgrade& one) {
            return !one.machine_settings.empty();
        });
        REQUIRE(at != sensitivity->upgrades.end());
        return static_cast<int>(at - sensitivity->upgrades.begin());
    }
    /// The settings of a change, as --set takes them.
    std::vector<std::string> set_by(int upgrade) const {
        std::vector<std::string> out;
        for (const Setting& one :
             sensitivity->upgrades[static_cast<std::size_t>(upgrade)].machine_settings)
            out.push_back(one.field + "=" + one.value);
        return out;
    }
    std::shared_ptr<const Comparison> comparison;
    std::shared_ptr<const Sensitivity> sensitivity;
};

}  // namespace

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
    const auto& rows = page.rows();
    REQUIRE(rows.size() >= 20 * 8);
    CHECK(rows.front().machine == "h200-sxm-pcie5-1.5tb");
    // streamed is the first system, and has the fastest plan with the given options.
    CHECK(rows.front().value.fastest_plan);
    CHECK(rows.front().value.asked.training.buffer_depth == 3);
    CHECK(rows.front().value.step <= driver.settled()->report().step.seconds);
    CHECK(std::none_of(rows.begin(), rows.end(),
                       [](const MachineSystem& row) { return row.machine == "h200-sxm-pcie5"; }));
    Q_EMIT page.adopted(row_of(page, "h100-sxm-pcie5", "zero3-offload"));
    const auto adopted = driver.settled();
    CHECK(adopted->planned.machine.machine == "h100-sxm-pcie5");
    CHECK(!adopted->planned.training.contains("buffer_depth"));  // which that system does not have
    CHECK(adopted->planned.training.at("batch") == "16");
    // It is one of those that were tried, and so is what is adopted next.
    const auto* const note = page.findChild<OutdatedNote*>();
    CHECK(note->isHidden());
    Q_EMIT page.adopted(row_of(page, "h200-sxm-pcie5-1.5tb", "streamed"));
    CHECK(note->isHidden());
    CHECK(driver.settled()->report().step.seconds == Approx(rows.front().value.step).epsilon(1e-9));
    driver.type("batch", "8");
    CHECK(!note->isHidden());
    while (window.stack().current() != adopted->planned) window.stack().undoStack().undo();
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == buffered);
}

TEST_CASE("pages: a cluster is tried on all machines with the systems of one GPU", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario planned = small_scenario();
    planned.model.layers = "3";
    planned.machine = {"h100-sxm-pcie5", {}, {}};
    planned.training = {{"schedule", "cluster"}, {"gpus", "8"}, {"batch", "16"}};
    const auto prediction = driver.open(planned);
    ParetoPage& page = window.pages().pareto();
    driver.finish(JobKind::machines, [&] { window.pages().showMachines(); });
    const auto& rows = page.rows();
    const auto own = std::find_if(rows.begin(), rows.end(), [](const MachineSystem& row) {
        return row.machine == "h100-sxm-pcie5" && row.schedule == "cluster";
    });
    REQUIRE(own != rows.end());
    // With its cheapest number of GPUs, not the scenario's.
    REQUIRE(prediction->cost.payment);
    REQUIRE(own->value.usd_per_million_tokens);
    CHECK(*own->value.usd_per_million_tokens < prediction->cost.run.usd_per_million_tokens.value);
    CHECK(own->value.asked.training.gpus < 8);
    Q_EMIT page.adopted(row_of(page, "h100-sxm-pcie5", "streamed"));
    CHECK(!driver.settled()->planned.training.contains("gpus"));
    const int cluster = row_of(page, "h200-sxm-pcie5", "cluster");
    const MachineSystem row = rows.at(static_cast<std::size_t>(cluster));
    Q_EMIT page.adopted(cluster);
    CHECK(driver.settled()->planned.training.at("gpus") ==
          std::to_string(row.value.asked.training.gpus));
}

TEST_CASE("pages: two scenarios side by side, with the upgrade and system that are adopted",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(small_scenario());
    const Found found(window);
    ComparePage& page = window.pages().compare();
    window.pages().setCurrentWidget(&page);
    window.stack().duplicate(0);
    const QString second = QString::fromStdString(window.stack().current().name);
    driver.finish(JobKind::compare, [&] { Q_EMIT page.systems().requested(); });
    CHECK(!page.svg().isEmpty());
    Q_EMIT page.systems().adopted(found.system("resident"));
    const auto resident = driver.settled();
    CHECK(resident->planned.training.at("batch") == "16");
    CHECK(resident->planned.training.at("schedule") == "resident");
    REQUIRE(test::wait_until([&] { return page.csv().contains(second); }));
    Q_EMIT page.scenarios().scenarioActivated(0);
    CHECK(window.stack().currentIndex() == 0);

    driver.finish(JobKind::sensitivity, [&] { Q_EMIT window.pages().sensitivity().requested(); });
    const int upgrade = found.upgrade();
    Q_EMIT window.pages().sensitivity().adopted(upgrade);
    Q_EMIT window.pages().sensitivity().adopted(upgrade);  // once more
    CHECK(driver.settled()->planned.machine.settings == found.set_by(upgrade));
    CHECK(window.stack().count() == 5);
}

TEST_CASE("pages: what is of an earlier scenario is marked, and no longer once it is undone",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    Pages& pages = window.pages();
    driver.open(small_scenario());
    const Found found(window);
    const auto marked = [](QWidget& page) { return !page.findChild<OutdatedNote*>()->isHidden(); };
    const HeatAxis batch{varied_option(training_option("batch")), {8, 16}};
    const HeatAxis layers{varied_option(training_option("micro_batch")), {1, 2}};
    REQUIRE(batch.number.key == "batch");
    pages.explore().setMap(HeatMap(batch, layers, PointSettings::given));
    driver.finish(JobKind::explore,
                  [&] { Q_EMIT pages.explore().exploreRequested(pages.explore().map()); });
    driver.finish(JobKind::compare, [&] { Q_EMIT pages.compare().systems().requested(); });
    driver.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().requested(); });
    for (QWidget* const page : std::initializer_list<QWidget*>{
             &pages.explore(), &pages.compare().systems(), &pages.sensitivity()})
        CHECK(!marked(*page));

    window.stack().rename(0, QStringLiteral("another name"));
    CHECK(!marked(pages.sensitivity()));
    driver.type("batch", "8");  // which the map varies
    CHECK(!marked(pages.explore()));
    CHECK(marked(pages.compare().systems()));
    CHECK(marked(pages.sensitivity()));
    driver.type("host_memory", "512GB");
    CHECK(marked(pages.explore()));
    driver.settled();
    CHECK(marked(pages.explore()));
    driver.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().requested(); });
    CHECK(!marked(pages.sensitivity()));
    while (window.stack().undoStack().canUndo()) window.stack().undoStack().undo();
    CHECK(!marked(pages.explore()));
    CHECK(!marked(pages.compare().systems()));
    CHECK(marked(pages.sensitivity()));

    // An upgrade is one of the machine that it was found for.
    driver.type("machine", "gh200-480gb");
    driver.settled();
    Q_EMIT pages.sensitivity().adopted(found.upgrade());
    const PlannedScenario adopted = driver.settled()->planned;
    CHECK(adopted.machine.machine == small_scenario().machine.machine);
    CHECK(adopted.machine.host_memory == "512GB");
    CHECK(adopted.machine.settings == found.set_by(found.upgrade()));
    CHECK(adopted.name == window.stack().current().name);
}

TEST_CASE("pages: a system is adopted with the settings that make its batch fit", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario large = small_scenario(256);
    large.training["schedule"] = "zero3-offload";
    large.training["seq"] = "4096";
    CHECK(!driver.open(large)->report().plan.fit.fits());
    BarsPage& part = window.pages().compare().systems();
    const Found found(window);
    driver.finish(JobKind::compare, [&] { Q_EMIT part.requested(); });
    const int at = found.system("zero3-offload");
    const ComparedSystem& system = found.comparison->systems[static_cast<std::size_t>(at)];
    REQUIRE(system.fits());
    Q_EMIT part.adopted(at);
    const auto adopted = driver.settled();
    CHECK(adopted->report().plan.fit.fits());
    CHECK(adopted->report().step.seconds == Approx(system.report.step.seconds).epsilon(1e-9));
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
