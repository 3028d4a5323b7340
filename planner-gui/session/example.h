// What does a first start show?
#pragma once

#include <QString>
#include <vector>

#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// "120 B on one H200".
PlannedScenario example_scenario();

/// A question and the settings whose scenario answers it; without settings a page does.
struct ExampleQuestion {
    QString text;
    std::vector<Setting> settings;
};
std::vector<ExampleQuestion> example_questions();

/// Whether it asks what the example or one of those questions does.
bool is_of_example(const PlannedScenario& planned);

}  // namespace sluice
