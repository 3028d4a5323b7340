// Which machines and systems for one model are beaten by no other in cost and speed?
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/report/cost_speed.h"
#include "sim/report/table.h"

namespace sluice {

/// Precondition: row.is_plotted().
double cost_of(const MachineSystem& row, CostAxis axis);
/// "$ an hour"
QString cost_name(CostAxis axis);

/// For each row: it is plotted, and no other is faster at the same cost or cheaper at the same
/// speed.
std::vector<bool> on_front(const std::vector<MachineSystem>& rows, CostAxis axis);
/// Indices of plotted rows from the cheapest to the most expensive; of equal ones the faster first.
std::vector<std::size_t> by_cost(const std::vector<MachineSystem>& rows, CostAxis axis);
/// The cheapest plotted row that reaches that speed; empty if none does.
std::optional<std::size_t> cheapest_at(const std::vector<MachineSystem>& rows, CostAxis axis,
                                       double least_tokens_per_s);
/// A sentence that names the cheapest rows per token and per hour, or the fastest row if none
/// reaches that speed; empty if none is plotted.
QString cheapest_words(const std::vector<MachineSystem>& rows, double least_tokens_per_s);
/// All facts of a row, one per line.
QStringList row_lines(const MachineSystem& row, ByteUnits units);
/// "3,974 to 8,523", or empty.
QString band_text(const MachineSystem& row);

/// One table row per row; rows on the front are marked, rows that are not plotted are muted.
Table pareto_table(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units);
/// The plotted rows over that cost; ids are indices of rows.
CostSpeed cost_speed(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units);
Picture pareto_picture(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units,
                       const PictureSpace& space);

}  // namespace sluice
