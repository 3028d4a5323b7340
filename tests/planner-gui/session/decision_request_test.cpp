// An exported report shows each scenario as the window does: its own machine, settings and price.
#include "planner-gui/session/prediction.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/report/answers/findings.h"
#include "tests/catch.h"
#include "tests/planner-gui/small_scenario.h"

using namespace sluice;
using test::small_scenario;

namespace {

const std::string kGraceHopper = "gh200-480gb";

PlannedScenario changed_grace_hopper() {
    PlannedScenario out = small_scenario(8, kGraceHopper);
    out.machine.host_memory = "400GB";
    out.machine.settings = {"link.host_to_device_gb_per_s=300"};
    return out;
}

}  // namespace

TEST_CASE("decision request: every figure of every scenario is the window's", "[session]") {
    PlannedScenario deep = small_scenario(4, kGraceHopper);
    deep.training["buffer_depth"] = "3";
    deep.money = {{"usd_per_hour", "2.5"}, {"tokens", "1e6"}};
    PlannedScenario too_long = small_scenario(64, "rtx-5090");
    too_long.training["seq"] = "65536";
    PlannedScenario cluster = small_scenario(32, "h100-sxm-pcie5");
    cluster.training["schedule"] = "cluster";
    cluster.training["gpus"] = "8";
    const std::vector<PlannedScenario> planned = {small_scenario(), deep, changed_grace_hopper(),
                                                  too_long, cluster};
    const Decision decision = decide(decision_request(planned.front(), planned));
    REQUIRE(decision.candidates.size() == planned.size());
    for (std::size_t i = 0; i < planned.size(); ++i) {
        const Candidate& shown = decision.candidates[i];
        INFO(shown.name);
        const ScenarioAnswer window = answer_scenario(planned[i], kWholePrediction);
        CHECK(settings_flags(shown.report().asked.training) ==
              settings_flags(window.report().asked.training));
        CHECK(shown.report().step.seconds == window.report().step.seconds);
        CHECK(shown.fits() == window.report().plan.fit.fits());
        CHECK(shown.report().plan.fit.device().peak.bytes ==
              window.report().plan.fit.device().peak.bytes);
        CHECK(shown.report().plan.fit.host().peak.bytes ==
              window.report().plan.fit.host().peak.bytes);
        REQUIRE(shown.cost.payment.has_value() == window.cost.payment.has_value());
        CHECK(shown.cost.run.usd_per_million_tokens.value ==
              window.cost.run.usd_per_million_tokens.value);
        CHECK(shown.cost.run.usd_per_hour == window.cost.run.usd_per_hour);
        CHECK(shown.cost.tokens == 1e9);  // of the run that is decided on
    }
    CHECK(!decision.candidates[3].fits());
    CHECK(decision.candidates[0].name == "h200-sxm-pcie5-1.5tb");
    CHECK(decision.candidates[4].name == "8 x h100-sxm-pcie5");
}

TEST_CASE("decision request: scenarios of one machine are told apart, equal ones shown once",
          "[session]") {
    PlannedScenario again = small_scenario();
    again.name = "the same under another name";
    const PlannedScenario larger = small_scenario(32);
    const Decision decision =
        decide(decision_request(small_scenario(), {small_scenario(), again, larger}));
    REQUIRE(decision.candidates.size() == 2);
    CHECK(decision.candidates[0].name == "h200-sxm-pcie5-1... (batch 16)");
    CHECK(decision.candidates[1].name == "h200-sxm-pcie5-1... (batch 32)");
    CHECK(decision.candidates[1].report().asked.training.batch == 32);
}

TEST_CASE("decision request: machines keep their changes; a mistake names its scenario",
          "[session]") {
    const DecisionRequest request = decision_request(small_scenario(), {changed_grace_hopper()});
    REQUIRE(request.machines.size() == 2);
    CHECK(
        request.machines[1].profile.changes ==
        std::vector<std::string>{"--host-memory 400GB", "--set link.host_to_device_gb_per_s=300"});
    PlannedScenario mistaken = changed_grace_hopper();
    mistaken.machine.settings = {"host.turbo=2"};
    CHECK_THROWS_WITH(decision_request(small_scenario(), {mistaken}),
                      ContainsSubstring("scenario \"batch 8\"") && ContainsSubstring("host.turbo"));
}

TEST_CASE("ways to try: clusters of every size, whatever the scenario has", "[session]") {
    PlannedScenario planned = small_scenario(32, "h100-sxm-pcie5");
    const auto sizes = [&] {
        std::vector<std::int64_t> out;
        for (const MachineWay& way : ways_to_try(planned, false))
            if (way.machine == "h100-sxm-pcie5" && way.schedule == "cluster")
                out.push_back(way.gpus);
        return out;
    };
    // 64 GPUs have no equal parts of a batch of 32.
    CHECK(sizes() == std::vector<std::int64_t>{2, 4, 8, 16, 32});
    planned.training["schedule"] = "cluster";
    planned.training["gpus"] = "24";  // its own number stays
    CHECK(sizes() == std::vector<std::int64_t>{2, 4, 8, 16, 24, 32});
}
