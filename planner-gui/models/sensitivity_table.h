// The upgrades of a sensitivity, a row each.
#pragma once

#include "planner-gui/models/cell_table_model.h"
#include "sim/answers/search/sensitivity.h"

namespace sluice {

CellTable sensitivity_table(const Sensitivity& sensitivity);

}  // namespace sluice
