// What does a command line say about money and energy?
#pragma once

#include <string>

#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/planned_scenario.h"

namespace CLI {
class App;
}

namespace sluice {

/// Throws InputError while parsing, where a number is out of its range.
void add_money_flags(CLI::App& command, CostQuery& query);
/// What the command's flags do not say is taken from the scenario.
void take_money(const PlannedScenario& planned, const CLI::App& command, CostQuery& query);
/// Throws InputError where one price is given for several machines; `words` say which, and what to
/// give instead.
void refuse_one_price(const CostQuery& query, const std::string& words);

}  // namespace sluice
