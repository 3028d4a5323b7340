#include "planner-gui/session/prediction.h"

#include <algorithm>
#include <filesystem>
#include <set>

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

std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of) {
    return of == nullptr ? nullptr : std::shared_ptr<const Prediction>(of, &of->report());
}

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
    wanted.prices = money.prices;
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

std::shared_ptr<const ScenarioAnswer> PredictionCache::find(const PlannedScenario& planned) {
    const auto found = std::find_if(newest_.begin(), newest_.end(), [&](const auto& one) {
        return ask_the_same(one->planned, planned);
    });
    if (found == newest_.end() || (*found)->files != read_named_files(planned)) return nullptr;
    std::rotate(newest_.begin(), found, found + 1);
    return newest_.front();
}

void PredictionCache::add(const std::shared_ptr<const ScenarioAnswer>& prediction) {
    if (prediction->stage == PredictionStage::step) return;
    std::erase_if(newest_,
                  [&](const auto& one) { return ask_the_same(one->planned, prediction->planned); });
    newest_.push_front(prediction);
    if (newest_.size() > most_) newest_.pop_back();
}

void PredictionCache::keep(std::size_t scenarios) {
    most_ = scenarios + kSpare;
    if (newest_.size() > most_) newest_.resize(most_);
}

}  // namespace sluice
