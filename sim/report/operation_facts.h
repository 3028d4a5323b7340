// What is said of one operation, or of a stretch in which compute waits?
#pragma once

#include <string>
#include <vector>

#include "sim/base/format.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"

namespace sluice {

struct Fact {
    std::string name, value;  ///< without a name it goes on with the fact before
};
struct Facts {
    std::string title;  ///< "backward 12"
    std::vector<Fact> facts;
};

/// Lane, layer, start, duration, bytes, rate, what it waits for and what of it ended last, how long
/// compute waits for it.
Facts operation_facts(const TimelineRow& row, OperationId id,
                      const BytesText& bytes = format_bytes);
/// How long compute waits, for what, before what.
Facts wait_facts(const TimelineRow& row, const WaitBlock& wait);
/// Of one operation, or of several that a block stands for: from which to which, when, how long.
Facts block_facts(const TimelineRow& row, const Block& block);

/// A line each, for a tooltip.
std::string facts_lines(const Facts& facts);
/// In one line: "backward 12: lane compute; start 1.23 s; ...".
std::string facts_line(const Facts& facts);

/// The operations of the reports, a row each.
Table timeline_table(const Timeline& timeline);

}  // namespace sluice
