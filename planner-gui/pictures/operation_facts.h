// What does the window say of one operation?
#pragma once

#include <string>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"

namespace sluice {

struct Fact {
    std::string name, value;  ///< without a name it belongs to the fact before
};
struct Facts {
    std::string title;  ///< "backward 12"
    std::vector<Fact> facts;
};

/// Lane, layer, start, duration, bytes, rate, what it waits for and what of it ended last, how long
/// compute waits for it.
Facts operation_facts(const TimelineRow& row, OperationId id, ByteUnits units);

/// A line each, for a tooltip.
std::string facts_lines(const Facts& facts);
/// In one line: "backward 12: lane compute; start 1.23 s; ...".
std::string facts_line(const Facts& facts);

/// The operations of the reports, a row each.
Table timeline_table(const Timeline& timeline);

}  // namespace sluice
