#include "sim/plan/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/placement.h"
#include "sim/plan/waits.h"
#include "sim/specs/scenario/refused.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

const char* memory_kind_name(MemoryKind kind) {
    // In the order of the enumeration.
    static constexpr const char* kNames[kMemoryKindCount] = {
        "weights",   "gradients",       "checkpoints",    "activations", "loss",
        "workspace", "optimizer state", "pinned buffers", "process",     "gaps"};
    return kNames[static_cast<std::size_t>(kind)];
}

Bytes MemoryPlan::pinned_bytes() const {
    Bytes sum = 0;
    for (const Buffer& buffer : buffers) sum += buffer.pinned ? buffer.bytes : 0;
    return sum;
}

Peak peak_memory(const MemoryPlan& plan, Memory memory, OperationId operation_count) {
    const auto count = static_cast<std::size_t>(operation_count);
    std::vector<Bytes> change;  // empty where all stand
    Bytes always = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.memory != memory) continue;
        if (buffer.first == kWholeStep) {
            always += buffer.bytes;
        } else {
            change.resize(count + 1, 0);
            change[static_cast<std::size_t>(buffer.first)] += buffer.bytes;
            change[static_cast<std::size_t>(buffer.last) + 1] -= buffer.bytes;
        }
    }
    Peak peak{always, 0, {}};
    Bytes alive = always;
    for (std::size_t i = 0; i + 1 < change.size(); ++i) {
        alive += change[i];
        if (alive > peak.bytes) peak = {alive, static_cast<OperationId>(i), {}};
    }
    for (const Buffer& buffer : plan.buffers) {
        const bool then = buffer.first == kWholeStep ||
                          (buffer.first <= peak.operation && peak.operation <= buffer.last);
        if (buffer.memory == memory && then)
            peak.by_kind[static_cast<std::size_t>(buffer.kind)] += buffer.bytes;
    }
    return peak;
}

namespace {

/// The first rule that model and training break together.
std::optional<Refusal> model_refusal(const ModelSpec& model, const TrainingSpec& t) {
    if (auto why = home_refusal(model, t)) return why;
    if (!state_precision(t.state_bytes).takes_hidden(model.hidden))
        return refused(t, "state_bytes",
                       ", but the hidden size of {} is {}, no multiple of {}; give 8 or 12",
                       model.name, model.hidden, kMomentBlock);
    if (t.adapter_rank > model.hidden)
        return refused(t, "adapter_rank",
                       ", expected at most the hidden size of {} ({}): adapters take fewer weights "
                       "than what they adapt",
                       model.name, model.hidden);
    if (t.resident_tables == ResidentTables::head && model.tied_embeddings)
        return refused(
            t, "resident_tables",
            ", but the output projection of {} is its token embedding; give both or none",
            model.name);
    if (model.learned_positions > 0 && t.sequence > model.learned_positions)
        return refused(t, "seq", ", expected at most the {} learned positions of {}",
                       model.learned_positions, model.name);
    if (t.compute == Compute::fp8 && has_experts(model))
        return refused(t, "compute",
                       ", but {} has experts, whose products are in bf16 alone; give bf16",
                       model.name);
    if (t.head_gradients == Compute::fp8 && model.vocabulary % kFp8Terms != 0)
        return refused(t, "head_gradients",
                       ", but the vocabulary of {} has {} tokens, no multiple of {}; give bf16",
                       model.name, model.vocabulary, kFp8Terms);
    for (const LayerSpec& kind : model.kinds) {
        const std::int64_t width = kind.feed_forward.intermediate;
        if (t.kept_bits != 16 && width % 8 != 0)
            return refused(t, "kept_bits",
                           ", but a feed-forward of {} is {} wide, no multiple of 8; give 16",
                           model.name, width);
    }
    constexpr std::int64_t kMostPasses = 200'000;  // a plan of about a million operations
    if (model.layer_count() * t.micro_batches() > kMostPasses)
        return refused(t, "micro_batch",
                       ": {} micro-batches through {} layers exceed the limit of {} passes; give a "
                       "larger one",
                       t.micro_batches(), model.layer_count(), kMostPasses);
    return std::nullopt;
}

std::optional<Refusal> plan_refusal(const ModelSpec& model, const MachineSpec& machine,
                                    const TrainingSpec& training) {
    if (auto why = model_refusal(model, training)) return why;
    if (static_cast<double>(training.optimizer_threads) <= machine.host.cores) return std::nullopt;
    return refused(training, "optimizer_threads", ", expected at most the {:g} cores of {}",
                   machine.host.cores, machine.id);
}

std::optional<Refusal> products_refusal(const MachineSpec& machine, const TrainingSpec& training) {
    if (!training.computes_in_fp8() || machine.gpu.fp8_gemm_flops_per_s > 0) return std::nullopt;
    const char* const field = training.compute == Compute::fp8 ? "compute" : "head_gradients";
    return refused(training, field,
                   ", but by its profile the GPU of {} has no FP8 products; leave {} out",
                   machine.id, field_flag(field));
}

}  // namespace

void check_model_inputs(const ModelSpec& model, const TrainingSpec& training) {
    if (const auto why = model_refusal(model, training)) throw InputError(*why);
}

void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training) {
    if (const auto why = plan_refusal(model, machine, training)) throw InputError(*why);
}

void check_gpu_products(const MachineSpec& machine, const TrainingSpec& training) {
    if (const auto why = products_refusal(machine, training)) throw InputError(*why);
}

std::optional<Refusal> refusal_of(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training) {
    if (auto why = refusal_of(training)) return why;
    if (auto why = plan_refusal(model, machine, training)) return why;
    return products_refusal(machine, training);
}

StepPlan plan_step(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    StepPlan out = plan_memory(model, machine, training);
    derive_waits(out);
    return out;
}

StepPlan plan_memory(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training) {
    check_plan_inputs(model, machine, training);
    check_gpu_products(machine, training);
    return training.schedule->plan(model, machine, training);
}

namespace {

Bytes usable_of(const Topology::OfMemory& there, const TrainingSpec& training) {
    const double budget = there.memory.tier == Tier::device ? training.device_budget_bytes
                          : there.memory.tier == Tier::host ? training.host_budget_bytes
                                                            : 0;
    return budget > 0 ? std::min(there.usable(), static_cast<Bytes>(budget)) : there.usable();
}

}  // namespace

Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Memory memory) {
    return usable_of(topology_of(machine, memory.index + 1).of(memory), training);
}

Peak host_peak(const MemoryPlan& plan, OperationId operation_count) {
    Peak out = peak_memory(plan, Tier::host, operation_count);
    for (const HostMoment& moment : plan.host_moments)
        out.bytes = std::max(out.bytes, moment.bytes);
    return out;
}

Fit::OfMemory& Fit::of(Memory memory) {
    return const_cast<OfMemory&>(std::as_const(*this).of(memory));
}

const Fit::OfMemory& Fit::of(Memory memory) const {
    const auto found = std::ranges::find(memories, memory, &OfMemory::memory);
    if (found == memories.end())
        throw InternalError(fmt::format("the plan has no memory {}", memory_name(memory)));
    return *found;
}

Bytes Fit::shortfall() const {
    Bytes all = 0;
    for (const OfMemory& one : memories) all += one.shortfall();
    return all;
}

bool Fit::leaves_room() const {
    return fits() && std::ranges::all_of(memories, [](const OfMemory& one) {
               return one.memory.tier == Tier::storage || one.leaves_room();
           });
}

Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training,
              Gaps gaps) {
    const auto operations = static_cast<OperationId>(plan.program.operations.size());
    const Topology topology = topology_of(machine, plan.program.devices());
    Fit fit;
    fit.memories.clear();
    Peak of_devices;
    const auto add = [](Peak& to, const Peak& more) {
        to.bytes += more.bytes;
        for (std::size_t kind = 0; kind < to.by_kind.size(); ++kind)
            to.by_kind[kind] += more.by_kind[kind];
    };
    for (const Topology::OfMemory& there : topology.memories) {
        Fit::OfMemory one = {there.memory, peak_memory(plan.memory, there.memory, operations),
                             usable_of(there, training)};
        if (there.memory.tier == Tier::device) {
            if (gaps == Gaps::fewest || (gaps == Gaps::until_it_fits && there.in_host))
                one.peak = device_peak(plan.memory, operations, 0, there.memory);
            else if (gaps == Gaps::until_it_fits && one.shortfall() == 0)
                one.peak = device_peak(plan.memory, operations, static_cast<Bytes>(one.room()),
                                       there.memory);
            if (there.in_host) {
                add(of_devices, one.peak);
                of_devices.bytes += there.reserved;
            }
        } else if (there.memory.tier == Tier::host) {
            one.peak = host_peak(plan.memory, operations);
        } else if (there.capacity == 0) {
            one.usable = one.peak.bytes;
        }
        fit.memories.push_back(one);
    }
    add(fit.host().peak, of_devices);
    return fit;
}

}  // namespace sluice
