#include "sim/answers/predict/known_plans.h"

#include <utility>

namespace sluice {
namespace {

thread_local std::shared_ptr<KnownPlans> plans_of_thread;

}  // namespace

std::shared_ptr<const KnownPlan> KnownPlans::find(const Key& key) const {
    const std::lock_guard lock(adding_);
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : found->second;
}

void KnownPlans::add(const Key& key, KnownPlan plan) {
    auto added = std::make_shared<const KnownPlan>(std::move(plan));
    const std::lock_guard lock(adding_);
    plans_[key] = std::move(added);
}

std::shared_ptr<KnownPlans> KnownPlans::of_thread() {
    return plans_of_thread ? plans_of_thread : std::make_shared<KnownPlans>();
}

KnownPlans::Scope::Scope(std::shared_ptr<KnownPlans> plans)
    : outer_(std::exchange(plans_of_thread, std::move(plans))) {}
KnownPlans::Scope::~Scope() { plans_of_thread = outer_; }

MemoryPlan peaks_of(const StepPlan& plan) {
    MemoryPlan out;
    out.host_moments = plan.memory.host_moments;
    out.in_one_arena = plan.memory.in_one_arena;
    const auto count = static_cast<OperationId>(plan.program.operations.size());
    for (const Tier tier : {Tier::device, Tier::host, Tier::storage}) {
        const Peak peak = peak_memory(plan.memory, tier, count);
        for (std::size_t kind = 0; kind < peak.by_kind.size(); ++kind)
            if (peak.by_kind[kind] > 0)
                out.buffers.push_back(
                    {"", static_cast<MemoryKind>(kind), tier, peak.by_kind[kind]});
    }
    return out;
}

}  // namespace sluice
