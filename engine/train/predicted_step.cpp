#include "engine/train/predicted_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/answers/predict/scenario_prediction.h"
#include "sim/base/input_error.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

void refuse_predicted_misfit(const Prediction& prediction, const std::string& machine) {
    if (prediction.plan.fit.fits()) return;
    std::vector<std::string> words = shortages(prediction.plan);
    for (std::string& one : fitting_words(prediction.advice)) words.push_back(std::move(one));
    throw InputError(
        fmt::format("--machine {}: the plan does not fit: {}", machine, fmt::join(words, "; ")),
        "machine");
}

}  // namespace

bool built_with_planner() { return true; }

ExpectedStep predicted_step(const PlannedScenario& asked, SettingsOf settings) {
    const Prediction prediction = predict_scenario(
        asked, settings,
        {.suggestions = settings == SettingsOf::planner, .other_rates = true, .ahead = true});
    refuse_predicted_misfit(prediction, asked.machine.machine);
    return expected_of(prediction);
}

}  // namespace sluice
