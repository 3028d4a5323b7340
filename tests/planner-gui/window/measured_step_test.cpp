// A measured step that is laid under the predicted one belongs to its scenario.
#include <QLabel>
#include <QSignalSpy>
#include <algorithm>

#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/timeline_view.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/window/answers.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::small_scenario;
using test::WindowDriver;

namespace {

const QString kMeasuredRun = QStringLiteral(
    SLUICE_SOURCE_DIR "/validation/h200-pcie5-16vcpu-128gib/held-out/7b-batch-8.json");

/// A window whose scenario is on the machine of the run; its page Timeline is in front.
struct TimelineInFront {
    TimelineInFront() {
        driver.open(small_scenario(16, "h200-pcie5-16vcpu-128gib"));
        driver.window->pages().setCurrentWidget(&timeline());
    }
    TimelinePage& timeline() const { return driver.window->pages().timeline(); }
    bool has_measured() const { return timeline().view()->timeline().has_measured(); }
    bool says(const char* words) const {
        const auto labels = timeline().findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
            return label->isVisible() && label->text().contains(QLatin1String(words));
        });
    }

    WindowDriver driver;
};

}  // namespace

TEST_CASE("measured step: it is taken away with its scenario, which stays said", "[window]") {
    const TimelineInFront of;
    MainWindow& window = *of.driver.window;
    ValidationPage& runs = window.pages().validation();
    Q_EMIT runs.filesChosen({kMeasuredRun});
    REQUIRE(test::wait_until([&] { return !runs.csv().isEmpty(); }));
    Q_EMIT runs.runActivated(0);
    CHECK(of.has_measured());
    window.stack().rename(0, QStringLiteral("another name"));
    of.driver.settled();
    CHECK(of.has_measured());
    of.driver.type("batch", "4");
    of.driver.settled();
    CHECK(!of.has_measured());
    CHECK(of.says("belongs to another scenario"));
}

TEST_CASE("measured step: one that is read while the scenario changes is not laid under",
          "[window]") {
    const TimelineInFront of;
    const QSignalSpy overlaid(&of.driver.window->session(), &PlannerSession::overlaid);
    const auto choose_run = [&] {
        const test::FileAnswer answer(kMeasuredRun);
        Q_EMIT of.timeline().measuredReportWanted();
        CHECK(answer.given());
    };
    choose_run();
    of.driver.type("batch", "8");
    REQUIRE(test::wait_until([&] { return overlaid.count() == 1; }));
    of.driver.settled();
    CHECK(!of.has_measured());
    CHECK(of.says("has changed since its report was chosen"));
    choose_run();
    REQUIRE(test::wait_until([&] { return overlaid.count() == 2; }));
    CHECK(of.has_measured());
}
