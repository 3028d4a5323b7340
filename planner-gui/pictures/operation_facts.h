// What does the window say of one operation, or of a stretch in which compute waits?
#pragma once

#include <QString>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/timeline.h"

namespace sluice {

struct Fact {
    QString name, value;
};
struct Facts {
    QString title;  ///< "backward 12"
    std::vector<Fact> facts;
};

/// Lane, layer, start, duration, bytes, rate, what it waits for and what of it ended last, how long
/// compute waits for it.
Facts operation_facts(const TimelineRow& row, OperationId id, ByteUnits units);

/// How long compute waits, for what, before what.
Facts wait_facts(const TimelineRow& row, const WaitBlock& wait);

/// A line each, for a tooltip.
QString facts_lines(const Facts& facts);
/// In one line: "backward 12: lane compute; start 1.23 s; ...".
QString facts_line(const Facts& facts);

/// The operations of the reports, one a line: step (predicted or measured), lane, operation, layer,
/// micro_batch, start_s, end_s, bytes, rate_gb_per_s, waits_for.
QString timeline_csv(const Timeline& timeline);

}  // namespace sluice
