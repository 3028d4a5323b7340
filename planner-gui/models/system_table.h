// The systems of a comparison, a row each.
#pragma once

#include <QStringList>

#include "planner-gui/models/cell_table_model.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/compare/comparison.h"

namespace sluice {

CellTable system_table(const Comparison& comparison, ByteUnits units);

/// Who is faster; then of each system that does not fit what is short and what would fit; then who
/// was left out and why. Sentences of the command line's `compare`.
QStringList comparison_sentences(const Comparison& comparison);

}  // namespace sluice
