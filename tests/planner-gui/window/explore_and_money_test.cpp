// The pages Explore and Money in the window: cells that are predictions, rows that are whole.
#include <QTableView>

#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/money_page.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::small_scenario;
using test::WindowDriver;

TEST_CASE("pages: a heat map's cells are the predictions of its settings", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.open(small_scenario());
    ExplorePage& page = window.pages().explore();
    window.pages().setCurrentWidget(&page);
    const HeatAxis batch{varied_option(training_option("batch")), {8, 16}};
    REQUIRE(batch.number.key == "batch");
    const auto numbers = varied_numbers(Schedule("streamed"));
    const auto memory = std::find_if(numbers.begin(), numbers.end(), [](const auto& number) {
        return number.key == "host.memory_capacity_gb";
    });
    REQUIRE(memory != numbers.end());
    const HeatAxis host{*memory, {16, 1500}};
    page.setMap(HeatMap(batch, host, PointSettings::given));
    driver.finish(JobKind::explore, [&] { Q_EMIT page.exploreRequested(page.map()); });
    CHECK(page.map().computed() == 4);
    CHECK(page.map().state({1, 0}) == CellState::does_not_fit);
    CHECK(page.map().cell({1, 1})->tokens_per_s() ==
          Approx(driver.settled()->report().tokens_per_s()).epsilon(1e-9));
    Q_EMIT page.adopted({0, 0});
    const auto adopted = driver.settled();
    CHECK(adopted->planned.training.at("batch") == "8");
    CHECK(adopted->planned.machine.host_memory == "16GB");
    CHECK(driver.window->stack().count() == 2);  // beside the scenario that was asked
    CHECK(adopted->planned.name ==
          automatic_name(small_scenario()) + ", Batch 8, Host memory 16 GB");
    CHECK(!adopted->report().plan.fit.fits());
}

TEST_CASE("pages: each cell of a heat map has its own fastest settings, or the scenario's",
          "[window]") {
    const WindowDriver driver;
    PlannedScenario planned = small_scenario();
    planned.training["micro_batch"] = "16";
    const double own = driver.open(planned)->report().tokens_per_s();
    ExplorePage& page = driver.window->pages().explore();
    driver.window->pages().setCurrentWidget(&page);
    const HeatAxis batch{varied_option(training_option("batch")), {8, 16}};
    const HeatAxis sequence{varied_option(training_option("seq")), {1024}};
    const auto explore = [&](PointSettings settings) {
        page.setMap(HeatMap(batch, sequence, settings));
        driver.finish(JobKind::explore, [&] { Q_EMIT page.exploreRequested(page.map()); });
    };
    explore(PointSettings::given);
    CHECK(page.map().state({0, 0}) == CellState::refused);  // 8 is no multiple of 16
    CHECK(page.map().cell({1, 0})->tokens_per_s() == Approx(own));
    explore(PointSettings::fastest);
    REQUIRE(page.map().state({0, 0}) == CellState::fits);
    CHECK(page.map().cell({1, 0})->tokens_per_s() > 1.01 * own);
    const PlannedScenario cell = page.map().cell({0, 0})->planned;
    CHECK(cell.training.at("batch") == "8");
    const double speed = page.map().cell({0, 0})->tokens_per_s();
    Q_EMIT page.adopted({0, 0});
    CHECK(driver.settled()->report().tokens_per_s() == Approx(speed));
    CHECK(page.findChild<OutdatedNote*>()->isHidden());  // it is one of the map
}

TEST_CASE("pages: a way to pay that is cut in the table is whole below it", "[window]") {
    const WindowDriver driver;
    PlannedScenario planned = small_scenario();
    planned.machine.machine = "b200-sxm";
    driver.open(planned);
    MoneyPage& page = driver.window->pages().money();
    driver.window->pages().setCurrentWidget(&page);
    driver.window->resize(1280, 800);
    QTest::qWait(1);
    auto* const table = page.findChild<QTableView*>();
    const QAbstractItemModel& model = *table->model();
    int bought = 0;
    while (bought < model.rowCount() &&
           model.index(bought, 1).data().toString() != QStringLiteral("bought"))
        ++bought;
    REQUIRE(bought < model.rowCount());
    for (int row = 0; row < model.rowCount(); ++row)
        CHECK(table->rowHeight(row) <= 5 * table->fontMetrics().height());
    table->setCurrentIndex(model.index(bought, 1));
    const QLabel* below = nullptr;
    for (const QLabel* const label : page.findChildren<QLabel*>())
        if (label->accessibleName() == QStringLiteral("Selected way to pay")) below = label;
    REQUIRE(below != nullptr);
    CHECK(below->text().contains(QStringLiteral("$530,000 over 5 years")));
}
