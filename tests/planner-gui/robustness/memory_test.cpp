// Searches and verdicts leave no more behind than their answers: an hour of them takes no more
// memory than the first.
#include <QSignalSpy>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/start_page.h"
#include "sim/answers/search/ways_on_machine.h"
#include "tests/planner-gui/live_bytes.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

namespace {

constexpr const char* kDeep = "dense:layers=400,hidden=256";
constexpr const char* kSearched = "dense:layers=40,hidden=256";  // of which a search takes seconds

/// A step of 8 micro-batches, which have operations of their own: hundreds of kB of 40 layers.
PlannedScenario many_operations(const char* model, int batch) {
    PlannedScenario out;
    out.name = std::to_string(batch);
    out.model.model = model;
    out.machine.machine = "gh200-480gb";
    out.training = {{"batch", std::to_string(batch)},
                    {"micro_batch", std::to_string(batch / 8)},
                    {"seq", "512"}};
    return out;
}

std::size_t operations_of(const ScenarioAnswer& answer) {
    return answer.report().plan.program.operations.size();
}

}  // namespace

TEST_CASE("memory: what lists keep of a prediction has no operations", "[robustness]") {
    const PlannedScenario planned = many_operations(kDeep, 64);
    RunQuestion question;
    question.model = planned.model.model;
    CHECK(operations_of(*way_of(question, planned).answer) == 0);
    PlannerSession session;
    QSignalSpy outlined(&session, &PlannerSession::outlined);
    QSignalSpy predicted(&session, &PlannerSession::predicted);
    session.request(planned);
    REQUIRE(test::wait_until([&] { return outlined.count() == 2; }));
    const auto answer = [](const QSignalSpy& spy) {
        return spy.back().front().value<std::shared_ptr<const ScenarioAnswer>>();
    };
    CHECK(operations_of(*answer(outlined)) == 0);
    CHECK(operations_of(*answer(predicted)) > 5000);
    CHECK(answer(outlined)->report().step.seconds == answer(predicted)->report().step.seconds);
}

TEST_CASE("memory: no growth over searches and verdicts", "[robustness]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.files().start(many_operations(kSearched, 64));
    driver.settled();
    window.pages().setCurrentWidget(&window.pages().compare());
    const auto search = [&](int turn) {
        AskedRun run;
        run.fields = {{"model", kSearched},
                      {"task", "fine-tuning"},
                      {"seq", "512"},
                      {"tokens", std::to_string(1'000'000 * (turn + 1))}};
        for (int batch = 1; batch <= 3; ++batch)
            run.ways.push_back(many_operations(kSearched, 64 * (batch + turn)));
        window.startPage().setAskedRun(run);
        driver.finish(JobKind::start, [&] { window.showStart(true); });
        window.showStart(false);
        window.stack().edit(many_operations(kSearched, 64 * (2 + turn)), {}, {});
        driver.settled();
        driver.finish(JobKind::compare,
                      [&] { Q_EMIT window.pages().compare().systems().requested(); });
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        return test::live_bytes();
    };
    // The first ones fill what is kept for the rest of the session.
    std::size_t before = 0;
    for (int turn = 0; turn < 2; ++turn) before = search(turn);
    std::size_t after = 0;
    for (int turn = 2; turn < 6; ++turn) after = search(turn);
    // The cache keeps the outlines of the verdicts, up to PredictionCache::kSpare of them. (With 46
    // turns, the first 30 added 360 kB each, the others 5 kB.)
    constexpr std::size_t kOutlines = 4 * 450'000;
    CHECK(after < before + kOutlines);
}
