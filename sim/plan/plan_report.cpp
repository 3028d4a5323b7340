#include "sim/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"

namespace sluice {
namespace {

/// The lane with the largest share of the critical path: the one whose speed sets the step's.
void name_bottleneck(StepReport& report) {
    const auto& shares = report.critical_shares;
    const auto largest = std::max_element(shares.begin(), shares.end());
    const Lane lane = static_cast<Lane>(largest - shares.begin());
    const LaneTime& compute = report.lanes[static_cast<std::size_t>(Lane::compute)];
    report.bottleneck = lane == Lane::compute ? "gpu_compute" : lane_name(lane);
    report.bottleneck_words =
        fmt::format("{}, {} of the step's critical path; compute is busy {} of the step",
                    lane == Lane::compute ? "GPU compute" : lane_label(lane),
                    format_percent(*largest), format_percent(compute.busy / report.step));
}

}  // namespace

StepReport report_of_plan(const ModelSpec& model, const MachineSpec& machine,
                          const TrainingSpec& training, StepPlan plan) {
    StepReport report;
    report.model_name = model.name;
    report.model_note = model.note;
    report.schedule_note = plan.note;
    report.parameters = total_parameters(model);
    report.active_parameters = active_parameters(model);
    report.layers = model.layer_count();
    report.tied_embeddings = model.tied_embeddings;
    report.machine_id = machine.id;
    report.machine_name = machine.name;
    report.training = training;
    report.fit = check_fit(plan, machine, training);
    report.device_capacity = machine.gpu.memory_capacity;
    report.device_context = machine.gpu.context;
    report.host_capacity = machine.host.memory_capacity;
    report.host_between_steps = plan.memory.host_between_steps;
    report.unified_memory = machine.unified_memory;
    report.host_timeline = plan.memory.host_moments;
    report.executed_flops = static_cast<double>(training.gpus) * plan.program.flops();
    report.confidence = machine.confidence;
    report.assumptions = machine.assumptions;
    if (plan.program.style != KernelStyle::fused && !machine.others_assumptions.empty()) {
        report.confidence = std::max(report.confidence, Confidence::transferred);
        report.assumptions.insert(report.assumptions.end(), machine.others_assumptions.begin(),
                                  machine.others_assumptions.end());
    }
    report.assumptions.insert(report.assumptions.end(), plan.assumptions.begin(),
                              plan.assumptions.end());
    report.buffers = std::move(plan.memory.buffers);
    report.program = std::move(plan.program);
    return report;
}

void add_times(StepReport& report, std::vector<OperationInterval> operations, Seconds step) {
    report.step = step;
    report.operations = std::move(operations);
    report.lanes = lane_times(report.program, report.operations, step);
    report.critical_shares = critical_shares(report.program, report.operations, step);
    name_bottleneck(report);
}

}  // namespace sluice
