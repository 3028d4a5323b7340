// Which example does the first start show?
#pragma once

#include <QString>
#include <vector>

#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// "120 B on one H200".
PlannedScenario example_scenario();

/// A question, and the settings whose scenario answers it; without settings, a page answers it.
struct ExampleQuestion {
    QString text;
    std::vector<Setting> settings;
};
std::vector<ExampleQuestion> example_questions();

/// Whether a scenario is the example or one of its questions.
bool is_of_example(const PlannedScenario& planned);

}  // namespace sluice
