#include "sim/plan/step.h"

#include <algorithm>

namespace sluice {
namespace {

Shortage shortage_of(const char* memory, const Fit::OfTier& tier) {
    const auto& kinds = tier.peak.by_kind;
    const auto largest = std::max_element(kinds.begin(), kinds.end());
    return {memory, tier.peak.bytes, tier.usable, static_cast<MemoryKind>(largest - kinds.begin()),
            *largest};
}

}  // namespace

AskedStep asked_step(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training) {
    AskedStep asked;
    asked.model_name = model.name;
    asked.model_note = model.note;
    asked.parameters = total_parameters(model);
    asked.active_parameters = active_parameters(model);
    asked.layers = model.layer_count();
    asked.tied_embeddings = model.tied_embeddings;
    asked.machine_id = machine.id;
    asked.machine_name = machine.name;
    asked.machine_changes = machine.changes;
    asked.training = training;
    return asked;
}

PlannedStep planned_step(StepPlan plan, const MachineSpec& machine, const TrainingSpec& training) {
    PlannedStep out;
    out.fit = check_fit(plan, machine, training);
    out.device_capacity = machine.gpu.memory_capacity;
    out.device_context = machine.gpu.context;
    out.host_capacity = machine.host.memory_capacity;
    out.unified_memory = machine.unified_memory;
    out.executed_flops = static_cast<double>(training.gpus) * plan.program.flops();
    out.confidence = machine.confidence;
    std::vector<std::string> assumptions = machine.assumptions;
    const auto append = [&](const std::vector<std::string>& more) {
        assumptions.insert(assumptions.end(), more.begin(), more.end());
    };
    if (plan.program.style != KernelStyle::fused && !machine.others_assumptions.empty()) {
        out.confidence = std::max(out.confidence, Confidence::transferred);
        append(machine.others_assumptions);
    }
    append(plan.assumptions);
    static_cast<StepPlan&>(out) = std::move(plan);
    out.assumptions = std::move(assumptions);
    return out;
}

Lane Step::bottleneck() const {
    const auto largest = std::max_element(critical_shares.begin(), critical_shares.end());
    return static_cast<Lane>(largest - critical_shares.begin());
}

const char* bottleneck_name(Lane lane) {
    return lane == Lane::compute ? "gpu_compute" : lane_name(lane);
}

const char* bottleneck_label(Lane lane) {
    return lane == Lane::compute ? "GPU compute" : lane_label(lane);
}

Step step_of(const StepProgram& program, std::vector<OperationInterval> intervals,
             Seconds seconds) {
    Step step;
    step.seconds = seconds;
    step.lanes = lane_times(program, intervals, seconds);
    step.critical_shares = critical_shares(program, intervals, seconds);
    step.intervals = std::move(intervals);
    return step;
}

std::vector<Shortage> find_shortages(const PlannedStep& plan) {
    std::vector<Shortage> out;
    for (const auto& [memory, tier] :
         {std::pair("device", &plan.fit.device),
          std::pair(plan.unified_memory ? "shared memory" : "host", &plan.fit.host),
          std::pair("storage", &plan.fit.storage)})
        if (tier->shortfall() > 0) out.push_back(shortage_of(memory, *tier));
    return out;
}

}  // namespace sluice
