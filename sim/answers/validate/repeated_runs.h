// Which runs repeat one configuration? Which only share a name?
#pragma once

#include <vector>

#include "sim/answers/validate/measured_run.h"

namespace sluice {

/// Runs of one name, group, known machine, model and training, of several processes, become one
/// where the first stood: its step is the mean of theirs, its operations and phases are the means
/// of the times, `step_low` the least and `step_high` the largest, device and host memory the
/// larger, steps the sum. distinct_tokens, which is of the text and not a setting, is the first's.
std::vector<MeasuredRun> join_repeated_runs(std::vector<MeasuredRun> runs);

/// Names that several runs of a group have get, in brackets, what tells them apart: the machine,
/// else the row of the table, else the file.
void tell_apart(std::vector<MeasuredRun>& runs);

}  // namespace sluice
