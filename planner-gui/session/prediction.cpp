#include "planner-gui/session/prediction.h"

#include "sim/answers/cost/cost_query.h"
#include "sim/answers/predict/advice.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/predict/prediction_band.h"

namespace sluice {
namespace {

void add_cost(Prediction& prediction, const StepReport& report) {
    const Scenario& s = prediction.scenario;
    prediction.cost =
        answer_cost(report, s.machine, machine_money(s.profile, s.machine, s.money), s.money);
}

}  // namespace

Prediction predict_scenario(const PlannedScenario& planned) {
    Prediction out;
    out.planned = planned;
    out.files = read_named_files(planned);  // before resolve(): one that changes is read again
    out.scenario = resolve(planned);
    const Scenario& s = out.scenario;
    StepReport report =
        in_field("schedule", [&] { return predict(s.model, s.machine, s.training); });
    report.machine_changes = s.machine_changes;
    in_field("offer", [&] {
        add_price(report, s.profile);
        add_cost(out, report);
    });
    return out;
}

void add_suggestions(Prediction& prediction) {
    const Scenario& s = prediction.scenario;
    add_suggestions(prediction.cost.report, s.model, s.machine);
}

void add_band(Prediction& prediction) {
    const Scenario& s = prediction.scenario;
    StepReport report = prediction.report();
    add_band(report, s.model, s.machine, s.training);
    add_cost(prediction, report);
    prediction.stage = PredictionStage::band;
}

void add_remedies(Prediction& prediction) {
    const Scenario& s = prediction.scenario;
    add_remedies(prediction.cost.report, s.model, s.machine);
    prediction.stage = PredictionStage::remedies;
}

}  // namespace sluice
