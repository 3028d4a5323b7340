// Sums over a plan that the tests of several schedules compare with counts by hand.
#pragma once

#include <string>

#include "sim/plan/step_plan.h"

namespace sluice::test {

/// Bytes of all buffers of that name.
inline Bytes bytes_of(const StepPlan& plan, const std::string& name) {
    Bytes bytes = 0;
    for (const Buffer& buffer : plan.memory.buffers)
        if (buffer.name == name) bytes += buffer.bytes;
    return bytes;
}

/// Bytes that a lane moves over the link in one step.
inline double link_bytes(const StepPlan& plan, Lane lane) {
    double bytes = 0;
    for (const Operation& operation : plan.program.operations)
        if (operation.lane == lane) bytes += operation.link_bytes;
    return bytes;
}

/// The same for one kind of operation.
inline double link_bytes(const StepPlan& plan, OperationKind kind) {
    double bytes = 0;
    for (const Operation& operation : plan.program.operations)
        if (operation.kind == kind) bytes += operation.link_bytes;
    return bytes;
}

}  // namespace sluice::test
