// Scenarios side by side: a column each, a row a quantity or setting, and which rows differ.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/cost/run_cost.h"
#include "sim/answers/predict/prediction.h"
#include "sim/report/bars.h"
#include "sim/report/table.h"

namespace sluice {

struct ComparedScenario {
    QString name;
    std::shared_ptr<const Prediction> report;  ///< with its band; not null
    std::optional<RunCost> cost;               ///< of a run; its money counts only where `priced`
    bool priced = false;
};

/// What is asked, then what is predicted; rows that differ are marked. Of the training settings
/// those that differ anywhere, and system, batch and sequence always; "-" where a system does not
/// have a setting. The first column names the rows.
Table scenario_table(const std::vector<ComparedScenario>& scenarios, ByteUnits units);

/// Tokens/s of each with its band; grey where it does not fit.
BarChart scenario_bars(const std::vector<ComparedScenario>& scenarios, ByteUnits units);

}  // namespace sluice
