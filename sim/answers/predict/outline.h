// A list of many predictions keeps all of each but the operations and buffers of its plan and when
// they ran: for 128 micro-batches of 80 layers they take tens of MB, and only the pages of
// one open scenario read them.
#pragma once

#include "sim/plan/step.h"

namespace sluice {

inline void forget_operations(TimedPlan& timed) {
    timed.plan.program.operations = {};
    timed.plan.program.kernel_lists = {};
    timed.plan.memory.buffers = {};
    timed.step.intervals = {};
}

}  // namespace sluice
