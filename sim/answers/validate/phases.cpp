#include "sim/answers/validate/phases.h"

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

const OperationInterval& first_of(const TimedPlan& report, OperationKind kind) {
    const auto& operations = report.plan.program.operations;
    const auto found = std::find_if(operations.begin(), operations.end(),
                                    [&](const Operation& o) { return o.kind == kind; });
    if (found == operations.end())
        throw InternalError(std::string("a step without ") + operation_name(kind));
    return report.step.intervals[static_cast<std::size_t>(found - operations.begin())];
}

Seconds compute_ends(const TimedPlan& report) {
    Seconds end = 0;
    for (std::size_t i = 0; i < report.step.intervals.size(); ++i)
        if (report.plan.program.operations[i].lane == Lane::compute)
            end = std::max(end, report.step.intervals[i].end);
    return end;
}

Seconds first_start(const TimedPlan& report) {
    Seconds start = 0;
    for (const OperationInterval& interval : report.step.intervals)
        start = std::min(start, interval.start);
    return start;
}

Seconds time_of(const StepMark& mark, const TimedPlan& report) {
    const Seconds later = mark.next_step ? report.step.seconds : 0;
    switch (mark.at) {
        case StepMark::At::zero:
            return later;
        case StepMark::At::earliest_start:
            return first_start(report) + later;
        case StepMark::At::first_start:
            return first_of(report, mark.kind).start + later;
        case StepMark::At::first_end:
            return first_of(report, mark.kind).end + later;
        case StepMark::At::compute_end:
            return compute_ends(report) + later;
    }
    throw InternalError("step_phases: unknown moment");
}

}  // namespace

std::vector<std::string> phase_names(Schedule schedule) {
    std::vector<std::string> names;
    for (const Phase& phase : schedule->phases) names.emplace_back(phase.name);
    return names;
}

std::vector<Seconds> step_phases(const TimedPlan& report) {
    std::vector<Seconds> out;
    for (const Phase& phase : report.asked.training.schedule->phases)
        out.push_back(time_of(phase.end, report) - time_of(phase.begin, report));
    return out;
}

}  // namespace sluice
