// Cost against speed of machines and systems for one model: which is beaten by no other?
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
/// "$/h"
QString cost_name(CostAxis axis);

/// One a row: plotted, and no other is faster for as little or cheaper and as fast.
std::vector<bool> on_front(const std::vector<MachineSystem>& rows, CostAxis axis);
/// Indices of plotted rows from the cheapest to the dearest, of equal ones the faster first.
std::vector<std::size_t> by_cost(const std::vector<MachineSystem>& rows, CostAxis axis);
/// The plotted row of the least cost that reaches that speed; nothing where none does.
std::optional<std::size_t> cheapest_at(const std::vector<MachineSystem>& rows, CostAxis axis,
                                       double least_tokens_per_s);
/// In words those of the least cost a token and an hour, or which is the fastest where none reaches
/// that speed; empty where none is plotted.
QString cheapest_words(const std::vector<MachineSystem>& rows, double least_tokens_per_s);
/// All that is known of a row, a line each.
QStringList row_lines(const MachineSystem& row, ByteUnits units);
/// "3,974 to 8,523", or empty.
QString band_text(const MachineSystem& row);

/// A row each; those on the front are marked, those that are not in the picture muted.
Table pareto_table(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units);
/// The plotted rows over that cost; ids are places of the rows.
CostSpeed cost_speed(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units);
Picture pareto_picture(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units,
                       const PictureSpace& space);

}  // namespace sluice
