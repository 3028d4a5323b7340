#include "sim/answers/predict/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/plan_report.h"
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
        const bool on_device = lane == Lane::compute || lane == Lane::interconnect;
        if (on_device || copies) hbm += demands[i].bytes;
        if (!on_device) dram += demands[i].bytes * (copies ? machine.host.copy_weight : 1);
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

}  // namespace

StepReport predict(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    check_training_spec(training);
    StepPlan plan = plan_step(model, machine, training);
    const SimulatedStep simulated = simulate_step(plan, machine, training);

    StepReport report = report_of_plan(model, machine, training, std::move(plan));
    report.first_step = simulated.first_step;
    add_times(report, simulated.operations, simulated.step);
    report.utilization = utilization(report, machine);
    if (!simulated.steady)
        report.assumptions.push_back(fmt::format(
            "the step time does not settle in {} steps; it is their mean", simulated.steps));
    return report;
}

}  // namespace sluice
