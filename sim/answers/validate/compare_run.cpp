#include "sim/answers/validate/compare_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {
namespace {

constexpr const char* kOtherVersion =
    "the report was made by another version of the planner; measure again";

/// The plan of the step that updates ahead. Throws InputError as plan_step().
StepPlan plan_ahead(const MeasuredRun& run, const MachineSpec& machine) {
    check_plan_inputs(run.model, machine, run.training);
    check_gpu_products(machine, run.training);
    return plan_streamed(run.model, machine, run.training, ClippedStep::ahead).step;
}

/// The trainer executes one program, whether its updates wait for the norm or not.
StepProgram executed_program(const MeasuredRun& run, const MachineSpec& machine) {
    return run.training.schedule->ours ? plan_ahead(run, machine).program
                                       : plan_step(run.model, machine, run.training).program;
}

/// Both come from one plan, so their operations must be the same.
void check_operations(const MeasuredRun& run, const StepProgram& executed) {
    const std::vector<Operation>& planned = executed.operations;
    if (run.operations.size() != planned.size())
        throw InputError(fmt::format("{}: operations: {} rows, expected the {} of its plan; {}",
                                     run.file, run.operations.size(), planned.size(),
                                     kOtherVersion));
    for (std::size_t i = 0; i < planned.size(); ++i) {
        const MeasuredOperation& row = run.operations[i];
        const std::string label = operation_label(planned[i], run.model.layer_count());
        const std::string lane = lane_name(planned[i].lane);
        if (row.label == label && row.lane == lane && row.micro_batch == planned[i].micro_batch)
            continue;
        throw InputError(fmt::format(
            "{}: operations.rows[{}] is {} of micro-batch {} on {}, expected {} of micro-batch {} "
            "on {}; {}",
            run.file, i, row.label, row.micro_batch, row.lane, label, planned[i].micro_batch, lane,
            kOtherVersion));
    }
}

/// The plan of `predicted` has no updates ahead where all updates waited.
TimedPlan measured_step(const MeasuredRun& run, const Prediction& predicted,
                        const StepProgram& executed) {
    check_operations(run, executed);
    std::vector<OperationInterval> intervals;
    for (std::size_t i = 0; i < run.operations.size(); ++i)
        if (run.updates_ahead || executed.operations[i].kind != OperationKind::update_ahead)
            intervals.push_back(run.operations[i].interval);
    TimedPlan out = predicted;
    out.step = step_of(out.plan.program, std::move(intervals), run.step);
    out.step.measured = {run.device,    run.host,        run.steps, run.step_low,
                         run.step_high, run.activations, 0,         run.updates_ahead};
    return out;
}

/// Device buffers in fp32 are twice as large as the plan, which is for bf16.
Bytes device_memory(const MeasuredRun& run, const Prediction& predicted) {
    const Bytes planned = predicted.plan.fit.device().peak.bytes;
    return run.activations == Precision::fp32 ? 2 * planned : planned;
}

/// The trainer's host memory is the largest resident memory over its steps: the plan's steady
/// moment. On the CPU, device buffers are resident too, which the plan's moments do not include.
Bytes host_memory(const MeasuredRun& run, const Prediction& predicted, Bytes device) {
    if (run.host_between_steps) return predicted.plan.memory.host_between_steps;
    const auto steady =
        std::ranges::find(predicted.plan.memory.host_moments, true, &HostMoment::is_steady);
    if (steady == predicted.plan.memory.host_moments.end())
        throw InternalError("a plan without a steady moment");
    return steady->bytes + (run.unified_memory ? device : 0);
}

std::vector<PhaseComparison> compare_phases(const RunComparison& comparison) {
    const std::vector<std::string> names = phase_names(comparison.run.training.schedule);
    const std::vector<Seconds> predicted = step_phases(comparison.predicted);
    std::vector<PhaseComparison> out;
    if (comparison.measured) {
        const std::vector<Seconds> measured = step_phases(*comparison.measured);
        for (std::size_t i = 0; i < names.size(); ++i)
            out.push_back({names[i], measured[i], predicted[i]});
        return out;
    }
    for (const MeasuredPhase& phase : comparison.run.phases) {
        const auto at = std::find(names.begin(), names.end(), phase.name) - names.begin();
        out.push_back({phase.name, phase.seconds, predicted[static_cast<std::size_t>(at)]});
    }
    return out;
}

/// The kind of step that was measured.
Prediction predict_run(const MeasuredRun& run, const MachineSpec& machine) {
    const Wanted wanted = {.band = Wanted::Band::always};
    try {
        if (!run.updates_ahead) return predict(run.model, machine, run.training, wanted);
        check_training_spec(run.training);
        return predict(planned_step(plan_ahead(run, machine), machine, run.training), run.model,
                       machine, run.training, wanted);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: training: {}", run.file, error.what()));
    }
}

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
        if (report.plan.program.operations[i].lane.work == Work::compute)
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

RunComparison compare_run(MeasuredRun run, const MachineSpec& machine) {
    RunComparison out;
    out.run = std::move(run);
    out.predicted = predict_run(out.run, machine);
    if (!out.run.operations.empty())
        out.measured = measured_step(out.run, out.predicted, executed_program(out.run, machine));
    out.predicted_device = device_memory(out.run, out.predicted);
    out.predicted_host = host_memory(out.run, out.predicted, out.predicted_device);
    out.phases = compare_phases(out);
    return out;
}

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
