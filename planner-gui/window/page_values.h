// How do the session's answers become the values that pages take, and what pages want flags?
#pragma once

#include "planner-gui/models/pareto_model.h"
#include "planner-gui/models/scenario_table_model.h"
#include "planner-gui/pictures/heat_map.h"
#include "planner-gui/session/prediction.h"
#include "planner-gui/session/session_jobs.h"

namespace sluice {

ExploredAxis explored_axis(const HeatAxis& axis);
HeatCell heat_cell(const ScenarioValue& value);
/// `planned` with the values of a cell.
PlannedScenario with_values(PlannedScenario planned, const std::vector<VariedValue>& values);

ParetoRow pareto_row(const MachineSystem& found);

/// The values of a prediction; they share its report.
ComparedScenario compared_scenario(const std::string& name,
                                   const std::shared_ptr<const ScenarioAnswer>& prediction);

/// The report alone, which lives as long as its prediction does.
std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of);

}  // namespace sluice
