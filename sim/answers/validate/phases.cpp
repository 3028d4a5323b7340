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

std::vector<Seconds> streamed_phases(const TimedPlan& report) {
    const Seconds loss = first_of(report, OperationKind::loss).start;
    const Seconds backward = first_of(report, OperationKind::backward).start;
    const Seconds end = compute_ends(report);
    return {loss, backward - loss, end - backward, report.step.seconds - end};
}

/// The copy to pinned memory includes the upload of embedding and head that follows it.
std::vector<Seconds> megatrain_phases(const TimedPlan& report) {
    const auto duration = [&](OperationKind kind) {
        const OperationInterval& interval = first_of(report, kind);
        return interval.end - interval.start;
    };
    return {first_of(report, OperationKind::clip_gradients).start,
            duration(OperationKind::clip_gradients), duration(OperationKind::update),
            first_of(report, OperationKind::zero_gradients).start -
                first_of(report, OperationKind::copy_to_pinned).start,
            duration(OperationKind::zero_gradients)};
}

Seconds first_start(const TimedPlan& report) {
    Seconds start = 0;
    for (const OperationInterval& interval : report.step.intervals)
        start = std::min(start, interval.start);
    return start;
}

/// The loss's backward is the first; what the optimizer does begins with clipping.
std::vector<Seconds> plain_phases(const TimedPlan& report) {
    const Seconds start = first_start(report);
    const Seconds backward = first_of(report, OperationKind::backward).start;
    const Seconds clip = first_of(report, OperationKind::clip_gradients).start;
    return {backward - start, clip - backward, report.step.seconds - (clip - start)};
}

}  // namespace

std::vector<std::string> phase_names(Schedule schedule) {
    if (schedule == Schedule::megatrain)
        return {"forward_backward", "clip_grad_norm", "adam", "copy_to_pinned", "zero_grad"};
    if (schedule != Schedule::streamed) return {"forward", "backward", "optimizer_step"};
    return {"forward", "loss", "backward", "tail"};
}

std::vector<Seconds> step_phases(const TimedPlan& report) {
    switch (report.asked.training.schedule) {
        case Schedule::streamed:
            return streamed_phases(report);
        case Schedule::megatrain:
            return megatrain_phases(report);
        default:
            return plain_phases(report);
    }
}

}  // namespace sluice
