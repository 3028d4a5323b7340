// How do scenarios compare? One column per scenario, one row per quantity or setting; rows that
// differ are marked.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/cost/cost.h"
#include "sim/answers/predict/prediction.h"
#include "sim/report/bars.h"
#include "sim/report/table.h"

namespace sluice {

struct ComparedScenario {
    QString name;
    std::shared_ptr<const Prediction> report;  ///< with its band; not null
    std::optional<RunCost> cost;  ///< of a run; its money is meaningful only if `priced`
    bool priced = false;
};

/// First the prediction, then the question; rows that differ are marked. Has all training settings
/// that differ, and always system, batch and sequence; "-" if a system does not have a setting. The
/// first column names the rows.
Table scenario_table(const std::vector<ComparedScenario>& scenarios, ByteUnits units);

/// Tokens/s of each scenario with its band; grey where it does not fit.
BarChart scenario_bars(const std::vector<ComparedScenario>& scenarios, ByteUnits units);

}  // namespace sluice
