#include "sim/simulate/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/format.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulate_step.h"

namespace sluice {
namespace {

std::size_t at(Lane lane) { return static_cast<std::size_t>(lane); }

std::vector<Utilization> utilization(const StepReport& report, const MachineSpec& machine) {
    const std::vector<FlowDemand> demands =
        operation_demands(report.program, machine, report.training);
    double hbm = 0, dram = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Lane lane = report.program.operations[i].lane;
        const bool copies = lane == Lane::host_to_device || lane == Lane::device_to_host;
        if (lane == Lane::compute || copies) hbm += demands[i].bytes;
        if (lane != Lane::compute)
            dram += demands[i].bytes * (copies ? machine.host.copy_weight : 1);
    }
    const LaneTimes& lanes = report.lanes;
    return {
        {"gpu_compute", lanes[at(Lane::compute)].busy / report.step},
        {"hbm", hbm / machine.gpu.memory_bandwidth / report.step},
        {"host_to_device",
         lanes[at(Lane::host_to_device)].bytes / machine.link.host_to_device / report.step},
        {"device_to_host",
         lanes[at(Lane::device_to_host)].bytes / machine.link.device_to_host / report.step},
        {"host_dram", dram / machine.host.dram_bandwidth / report.step},
        {"optimizer_threads",
         std::min(1.0,
                  (lanes[at(Lane::optimizer)].busy + lanes[at(Lane::host)].busy) / report.step)},
    };
}

/// The lane with the largest share of the critical path: the one whose speed sets the step's.
void name_bottleneck(StepReport& report) {
    const auto& shares = report.critical_shares;
    const auto largest = std::max_element(shares.begin(), shares.end());
    const Lane lane = static_cast<Lane>(largest - shares.begin());
    report.bottleneck = lane == Lane::compute ? "gpu_compute" : lane_name(lane);
    report.bottleneck_words = fmt::format(
        "{}, {} of the step's critical path; compute is busy {} of the step",
        lane == Lane::compute ? "GPU compute" : lane_label(lane), format_percent(*largest),
        format_percent(report.lanes[at(Lane::compute)].busy / report.step));
}

}  // namespace

StepReport predict(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    check_training_spec(training);
    StepPlan plan = plan_step(model, machine, training);
    const SimulatedStep simulated = simulate_step(plan, machine, training);

    StepReport report;
    report.model_name = model.name;
    report.model_note = model.note;
    report.parameters = total_parameters(model);
    report.active_parameters = active_parameters(model);
    report.layers = model.layer_count();
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
    report.step = simulated.step;
    report.first_step = simulated.first_step;
    report.executed_flops = plan.program.flops();
    report.operations = simulated.operations;
    report.lanes = lane_times(plan.program, simulated.operations, simulated.step);
    report.program = std::move(plan.program);
    report.critical_shares = critical_shares(report.program, report.operations, report.step);
    report.utilization = utilization(report, machine);
    name_bottleneck(report);
    report.confidence = machine.confidence;
    report.assumptions = machine.assumptions;
    if (!simulated.steady)
        report.assumptions.push_back(fmt::format(
            "the step time does not settle in {} steps; it is their mean", simulated.steps));
    return report;
}

}  // namespace sluice
