// The runs of a validation, a row each: measured, predicted, and how far off.
#pragma once

#include "planner-gui/models/cell_table_model.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

CellTable validation_table(const Validation& validation, ByteUnits units);

}  // namespace sluice
