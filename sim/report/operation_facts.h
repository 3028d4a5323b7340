// Which facts describe one operation, or a stretch in which compute waits?
#pragma once

#include <string>
#include <vector>

#include "sim/base/format.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"

namespace sluice {

struct Fact {
    std::string name, value;  ///< empty: continues the fact before
};
struct Facts {
    std::string title;  ///< "backward 12"
    std::vector<Fact> facts;
};

/// Lane, layer, start, duration, bytes, rate, dependencies (the last to end first), and how long
/// compute waits for it.
Facts operation_facts(const TimelineRow& row, OperationId id,
                      const BytesText& bytes = format_bytes);
/// How long compute waits, for which operation, and which operation is delayed.
Facts wait_facts(const TimelineRow& row, const WaitBlock& wait);
/// Facts of a block of one or several operations: first and last, start, duration.
Facts block_facts(const TimelineRow& row, const Block& block);

/// One line per fact, for a tooltip.
std::string facts_lines(const Facts& facts);
/// All facts in one line: "backward 12: lane compute; start 1.23 s; ...".
std::string facts_line(const Facts& facts);

/// One row per operation of the reports.
Table timeline_table(const Timeline& timeline);

}  // namespace sluice
