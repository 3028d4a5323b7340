#include "sim/plan/plan_builder.h"

#include <cmath>

namespace sluice {
namespace {

Bytes whole(double bytes) { return static_cast<Bytes>(std::ceil(bytes)); }

}  // namespace

OperationId PlanBuilder::add(Operation operation) {
    const OperationId id = next();
    for (const BufferId buffer_id : operation.uses) {
        Buffer& used = plan_.memory.buffers[static_cast<std::size_t>(buffer_id)];
        if (used.first == kWholeStep) used.first = id;
        used.last = id;
    }
    plan_.program.operations.push_back(std::move(operation));
    return id;
}

BufferId PlanBuilder::buffer(std::string name, MemoryKind kind, Tier tier, double bytes) {
    plan_.memory.buffers.push_back(
        {std::move(name), kind, tier, whole(bytes), kWholeStep, kWholeStep});
    return static_cast<BufferId>(plan_.memory.buffers.size()) - 1;
}

void PlanBuilder::standing(std::string name, MemoryKind kind, Tier tier, double bytes) {
    if (bytes > 0) buffer(std::move(name), kind, tier, bytes);
}

std::int32_t PlanBuilder::kernels(KernelList list) {
    plan_.program.kernel_lists.push_back(std::move(list));
    return static_cast<std::int32_t>(plan_.program.kernel_lists.size()) - 1;
}

StepPlan PlanBuilder::finish(std::vector<LayerPlacement> placements) {
    plan_.placements = std::move(placements);
    return std::move(plan_);
}

}  // namespace sluice
