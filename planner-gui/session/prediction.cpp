#include "planner-gui/session/prediction.h"

#include "sim/answers/cost/cost_query.h"

namespace sluice {

ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far) {
    ScenarioAnswer out;
    out.planned = planned;
    out.files = read_named_files(planned);  // before resolve(): one that changes is read again
    out.scenario = resolve(planned);
    const Scenario& s = out.scenario;
    const MachineMoney money = machine_money(s.profile, s.machine, s.money);
    wanted.prices = &s.profile;
    int stages = 0;
    const auto tell = [&](const Prediction& prediction) {
        in_field("offer", [&] { out.cost = answer_cost(prediction, s.machine, money, s.money); });
        out.stage = static_cast<PredictionStage>(stages++);
        if (so_far) so_far(out);
    };
    in_field("schedule", [&] { predict(s.model, s.machine, s.training, wanted, tell); });
    return out;
}

}  // namespace sluice
