// Which ways does one machine have to do a run?
#pragma once

#include <functional>

#include "sim/answers/search/run_question.h"

namespace sluice {

bool is_owned(const RunQuestion& question, const PlannedMachine& machine);
/// The number that the user owns, else all of the machine's node.
std::int64_t gpus_owned(const RunQuestion& question, const MachineSpec& node);

/// The run as planned, with what it costs whoever asks.
RunWay way_of(const RunQuestion& question, PlannedScenario planned);

/// One GPU with host memory, all GPUs of an owned machine, then nodes until they meet the deadline
/// and cost no less; see try_ways(). `asked` is the question without a machine. Nothing is found
/// where a rule of the systems or an unknown number of the machine forbids it.
void ways_on_machine(const RunQuestion& question, PlannedScenario asked,
                     const PlannedMachine& machine, const std::function<void(RunWay)>& found);

}  // namespace sluice
