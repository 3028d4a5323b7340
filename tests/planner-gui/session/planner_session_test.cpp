#include "planner-gui/session/planner_session.h"

#include "tests/catch.h"
#include "tests/planner-gui/small_scenario.h"
#include "tests/planner-gui/wait_until.h"

using namespace sluice;
using test::small_scenario;
using test::wait_until;

namespace {

/// The signals of a session.
struct Heard {
    explicit Heard(PlannerSession& session) {
        QObject::connect(&session, &PlannerSession::predicted,
                         [this](const auto& prediction) { predictions.push_back(prediction); });
        QObject::connect(&session, &PlannerSession::refused,
                         [this](const QString& sentence, const QString& field) {
                             refusals.push_back(field + QStringLiteral(": ") + sentence);
                         });
        QObject::connect(&session, &PlannerSession::finished,
                         [this](JobKind kind) { finished.push_back(kind); });
        QObject::connect(&session, &PlannerSession::failed,
                         [this](JobKind, const QString& sentence) { failed.push_back(sentence); });
        QObject::connect(&session, &PlannerSession::explored,
                         [this](const auto& cell) { cells.push_back(cell); });
    }
    bool complete() const {
        return !predictions.empty() && predictions.back()->stage == PredictionStage::remedies;
    }
    std::vector<std::shared_ptr<const ScenarioAnswer>> predictions;
    std::vector<std::shared_ptr<const ExploredCell>> cells;
    QStringList refusals, failed;
    std::vector<JobKind> finished;
};

}  // namespace

TEST_CASE("session: a verdict comes in three stages", "[session]") {
    PlannerSession session;
    const Heard heard(session);
    session.request(small_scenario());
    REQUIRE(wait_until([&] { return heard.complete(); }));
    REQUIRE(heard.predictions.size() == 3);
    CHECK(!heard.predictions[0]->report().band);
    CHECK(heard.predictions[1]->report().band);
    CHECK(heard.predictions[0]->report().step.seconds ==
          heard.predictions[2]->report().step.seconds);
    CHECK(heard.predictions[1]->cost.run.usd_per_million_tokens.high > 0);
}

TEST_CASE("session: only the newest of many requests is answered in full", "[session]") {
    PlannerSession session;
    const Heard heard(session);
    PlannedScenario planned = small_scenario();
    for (int batch = 1; batch <= 30; ++batch) {
        planned.training["batch"] = std::to_string(batch);
        session.request(planned);
    }
    REQUIRE(wait_until([&] { return heard.complete(); }));
    CHECK(heard.predictions.size() == 3);
    for (const auto& prediction : heard.predictions)
        CHECK(prediction->planned.training.at("batch") == "30");
}

TEST_CASE("session: a mistake names its field, and a right value mends it", "[session]") {
    PlannerSession session;
    const Heard heard(session);
    PlannedScenario planned = small_scenario();
    planned.training["batch"] = "9";
    planned.training["micro_batch"] = "2";
    session.request(planned);
    REQUIRE(wait_until([&] { return !heard.refusals.isEmpty(); }));
    CHECK(heard.refusals[0].startsWith(QStringLiteral("batch: --batch is 9, expected")));
    planned.machine.machine = "/no/such/profile.json";
    session.request(planned);
    REQUIRE(wait_until([&] { return heard.refusals.size() == 2; }));
    CHECK(heard.refusals[1].startsWith(QStringLiteral("machine: ")));
    CHECK(heard.refusals[1].contains(QStringLiteral("/no/such/profile.json")));
    session.request(small_scenario());
    CHECK(wait_until([&] { return heard.complete(); }));
}

TEST_CASE("session: a verdict comes before the end of a long job, which still ends", "[session]") {
    PlannerSession session;
    const Heard heard(session);
    const auto map = [](int batches) {
        ExploredAxis batch{"batch", {}}, depth{"buffer_depth", {}};
        for (int i = 1; i <= batches; ++i) batch.values.push_back(std::to_string(8 * i));
        for (int i = 1; i <= 12; ++i) depth.values.push_back(std::to_string(i));
        return ExploredMap{batch, depth, PointSettings::given};
    };
    // A job of minutes: on a loaded machine one of seconds can end before this thread runs again.
    session.explore(small_scenario(), map(2000));
    REQUIRE(wait_until([&] { return !heard.cells.empty(); }));
    session.request(small_scenario());
    REQUIRE(wait_until([&] { return heard.complete(); }));
    CHECK(heard.finished.empty());
    const std::size_t first = heard.cells.size();
    session.explore(small_scenario(), map(12));
    session.request(small_scenario());
    REQUIRE(wait_until([&] { return !heard.finished.empty(); }));
    REQUIRE(heard.cells.size() == first + 144);
    // The job's predictions are those of a verdict, whatever ran between them.
    const ScenarioValue& cell = heard.cells[first + 77]->value;
    REQUIRE(wait_until([&] { return heard.predictions.size() == 6; }));
    const std::size_t before = heard.predictions.size();
    session.request(cell.planned);
    REQUIRE(wait_until([&] { return heard.predictions.size() == before + 3; }));
    CHECK(heard.predictions.back()->report().step.seconds == Approx(cell.step).epsilon(1e-9));
}

TEST_CASE("session: a newer job of a kind takes the older one's place", "[session]") {
    PlannerSession session;
    const Heard heard(session);
    ExploredAxis many{"batch", {}};
    for (int batch = 8; batch <= 40'000; batch += 8) many.values.push_back(std::to_string(batch));
    // A job of minutes, as above.
    session.explore(small_scenario(), {many, {"seq", {"128", "256", "512", "1024", "2048"}}});
    REQUIRE(wait_until([&] { return !heard.cells.empty(); }));
    session.explore(small_scenario(), {{"batch", {"8"}}, {"seq", {"512", "x"}}});
    const std::size_t before = heard.cells.size();
    REQUIRE(wait_until([&] { return !heard.finished.empty(); }));
    CHECK(heard.finished.size() == 1);
    REQUIRE(heard.cells.size() == before + 2);
    CHECK(heard.cells.back()->value.refused.starts_with("--seq is x"));
    PlannedScenario wrong = small_scenario();
    wrong.model.model = "none";
    session.explore(wrong, {{"batch", {"8"}}, {"seq", {"512"}}});
    REQUIRE(wait_until([&] { return !heard.failed.isEmpty(); }));
    CHECK(heard.failed[0].contains(QStringLiteral("none")));
}

TEST_CASE("session: jobs of all kinds give what the libraries say", "[session]") {
    PlannerSession session;
    std::shared_ptr<const Comparison> comparison;
    std::shared_ptr<const Sensitivity> upgrades;
    std::shared_ptr<const Decision> decision;
    std::vector<std::shared_ptr<const MachineSystem>> rows;
    QObject::connect(&session, &PlannerSession::compared,
                     [&](const auto& value) { comparison = value; });
    QObject::connect(&session, &PlannerSession::sensitivityFound,
                     [&](const auto& value) { upgrades = value; });
    QObject::connect(&session, &PlannerSession::decided,
                     [&](const auto& value) { decision = value; });
    QObject::connect(&session, &PlannerSession::machineFound,
                     [&](const auto& row) { rows.push_back(row); });
    session.compare(small_scenario());
    session.findSensitivity(small_scenario());
    session.tryMachines(small_scenario(), {{"h200-sxm-pcie5-1.5tb", "streamed"},
                                           {"h200-sxm-pcie5-1.5tb", "resident"},
                                           {"gh200-480gb", "streamed"},
                                           {"gh200-480gb", "resident"}});
    session.decide(small_scenario(), {small_scenario(16, "gh200-480gb")});
    REQUIRE(wait_until([&] { return comparison && upgrades && decision && rows.size() == 4; }));
    CHECK(comparison->systems.front().name == "streamed");
    CHECK(!upgrades->upgrades.empty());
    CHECK(rows[3]->machine == "gh200-480gb");
    CHECK(rows[3]->schedule == "resident");
    REQUIRE(decision->candidates.size() == 2);
    CHECK(decision->candidates[1].name == "gh200-480gb");
}

TEST_CASE("session: a report compares a cluster with one GPU, each as planned", "[session]") {
    const PlannedScenario one = small_scenario(16, "h100-sxm-pcie5");
    PlannedScenario eight = small_scenario(32, "h100-sxm-pcie5");
    eight.training["schedule"] = "cluster";
    eight.training["gpus"] = "8";
    eight.money["usd_per_hour"] = "20";
    PlannerSession session;
    std::shared_ptr<const Decision> decision;
    QObject::connect(&session, &PlannerSession::decided,
                     [&](const auto& value) { decision = value; });
    session.decide(one, {one, eight});
    REQUIRE(wait_until([&] { return decision != nullptr; }));
    REQUIRE(decision->candidates.size() == 2);
    CHECK(decision->candidates[0].report().asked.training.schedule == Schedule("streamed"));
    CHECK(decision->candidates[1].name == "8 x h100-sxm-pcie5");
    CHECK(decision->candidates[1].report().asked.training.gpus == 8);
    CHECK(decision->candidates[1].report().asked.training.batch == 32);
    REQUIRE(decision->candidates[1].cost.payment);
    CHECK(decision->candidates[1].cost.run.usd_per_hour == 20);
    REQUIRE(decision->candidates[0].cost.payment);
    CHECK(decision->candidates[0].cost.run.usd_per_hour != 20);
}

TEST_CASE("session: a cluster's scenario is compared with the systems of one of its GPUs",
          "[session]") {
    PlannedScenario cluster = small_scenario();
    cluster.training["schedule"] = "cluster";
    cluster.training["gpus"] = "8";
    PlannerSession session;
    std::shared_ptr<const Comparison> comparison;
    QString refused;
    QObject::connect(&session, &PlannerSession::compared,
                     [&](const auto& value) { comparison = value; });
    QObject::connect(&session, &PlannerSession::failed,
                     [&](JobKind, const QString& sentence) { refused = sentence; });
    std::shared_ptr<const ScenarioAnswer> alone;
    QObject::connect(&session, &PlannerSession::predicted,
                     [&](const auto& value) { alone = value; });
    session.request(cluster);
    session.compare(cluster);
    REQUIRE(wait_until([&] { return alone && (comparison || !refused.isEmpty()); }));
    CHECK(refused.isEmpty());
    REQUIRE(comparison);
    const Prediction& last = comparison->systems.back().report;
    CHECK(last.asked.training.schedule == Schedule("cluster"));
    CHECK(last.asked.training.gpus == 8);
    CHECK(last.cost->usd_per_hour == alone->report().cost->usd_per_hour);
    // At its own best settings, as our system is.
    CHECK(last.step.seconds <= alone->report().step.seconds * (1 + 1e-9));
}

TEST_CASE("session: one that goes away in the middle of its work leaves the next one well",
          "[session]") {
    for (int i = 0; i < 5; ++i) {
        PlannerSession session;
        session.request(small_scenario());
        session.findSensitivity(small_scenario());
        session.explore(small_scenario(), {{"batch", {"8", "16"}}, {"seq", {"512"}}});
    }
    PlannerSession session;
    const Heard heard(session);
    PlannedScenario large = small_scenario();
    large.model = {"dense:layers=400,hidden=8192", {}};
    large.machine.host_memory = "20TB";
    session.request(large);
    REQUIRE(wait_until([&] { return heard.complete(); }));
    CHECK(heard.predictions.back()->report().asked.layers == 400);
}
