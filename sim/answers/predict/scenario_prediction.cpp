#include "sim/answers/predict/scenario_prediction.h"

#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {

Prediction predict_scenario(const PlannedScenario& asked, SettingsOf settings, Wanted wanted) {
    const Scenario s = resolve(asked);
    const std::set<std::string> given = given_options(asked);
    wanted.as_users_run = settings == SettingsOf::users;
    if (settings != SettingsOf::schedule)
        wanted.chosen_beside = &given;
    else if (wanted.suggestions)
        wanted.faster_beside = &given;
    wanted.prices = prices_to_choose_by(s.profile, s.money);
    return predict(s.model, s.machine, s.training, wanted);
}

}  // namespace sluice
