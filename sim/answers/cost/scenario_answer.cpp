#include "sim/answers/cost/scenario_answer.h"

#include <filesystem>
#include <system_error>

#include "sim/answers/cost/cost.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

/// The text of a file; for a folder the text of its config.json, as read_model() takes it.
std::string text_of(std::string path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) path += "/config.json";
    if (!std::filesystem::is_regular_file(path, error)) return {};
    try {
        return read_text_file(path);
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace

NamedFiles read_named_files(const PlannedScenario& planned) {
    return {text_of(planned.model.model), text_of(planned.machine.machine)};
}

ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far) {
    ScenarioAnswer out;
    out.planned = planned;
    out.files = read_named_files(
        planned);  // before resolve(), so that a file that changes meanwhile is read again
    out.scenario = resolve(planned);
    const Scenario& s = out.scenario;
    const MachineMoney money = machine_money(s.profile, s.machine, s.money);
    in_field("offer", [&] { wanted.prices = prices_to_choose_by(s.profile, s.money); });
    const std::set<std::string> given = given_options(planned);
    if (wanted.remedies) wanted.faster_beside = &given;
    int stages = 0;
    const auto tell = [&](const Prediction& prediction) {
        out.prediction = prediction;
        in_field("offer", [&] { out.cost = answer_cost(prediction, s.machine, money, s.money); });
        out.stage = static_cast<PredictionStage>(stages++);
        if (out.stage == PredictionStage::remedies)
            out.together = full_node(prediction, s.machine, money, s.money);
        if (so_far) so_far(out);
    };
    in_field("schedule", [&] { predict(s.model, s.machine, s.training, wanted, tell); });
    return out;
}

FastestPlan with_fastest_plan(PlannedScenario asked, const std::set<std::string>& fixed,
                              BillBase base) {
    const Scenario s = resolve(asked);
    const PlanChoice choice = choose_plan(s.model, s.machine, s.training, fixed,
                                          prices_to_choose_by(s.profile, s.money), base);
    return {with_settings(std::move(asked), changed_settings(s.training, choice.training)),
            choice.step};
}

}  // namespace sluice
