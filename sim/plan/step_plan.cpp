#include "sim/plan/step_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/placement.h"
#include "sim/plan/waits.h"
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

Peak peak_memory(const MemoryPlan& plan, Tier tier, OperationId operation_count) {
    const auto count = static_cast<std::size_t>(operation_count);
    std::vector<Bytes> change(count + 1, 0);
    Bytes always = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.tier != tier) continue;
        if (buffer.first == kWholeStep) {
            always += buffer.bytes;
        } else {
            change[static_cast<std::size_t>(buffer.first)] += buffer.bytes;
            change[static_cast<std::size_t>(buffer.last) + 1] -= buffer.bytes;
        }
    }
    Peak peak{always, 0, {}};
    Bytes alive = always;
    for (std::size_t i = 0; i < count; ++i) {
        alive += change[i];
        if (alive > peak.bytes) peak = {alive, static_cast<OperationId>(i), {}};
    }
    for (const Buffer& buffer : plan.buffers) {
        const bool then = buffer.first == kWholeStep ||
                          (buffer.first <= peak.operation && peak.operation <= buffer.last);
        if (buffer.tier == tier && then)
            peak.by_kind[static_cast<std::size_t>(buffer.kind)] += buffer.bytes;
    }
    return peak;
}

void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training) {
    check_homes(model, training);
    if (!state_precision(training.state_bytes).takes_hidden(model.hidden)) {
        throw InputError(fmt::format("--state-bytes is {}, but the hidden size of {} is {}, no "
                                     "multiple of {}; give 8 or 12",
                                     training.state_bytes, model.name, model.hidden, kMomentBlock),
                         "state_bytes");
    }
    if (training.adapter_rank > model.hidden) {
        throw InputError(fmt::format("--adapter-rank is {}, expected at most the hidden size of {} "
                                     "({}): adapters take fewer weights than what they adapt",
                                     training.adapter_rank, model.name, model.hidden),
                         "adapter_rank");
    }
    if (training.resident_tables == ResidentTables::head && model.tied_embeddings) {
        throw InputError(fmt::format("--resident-tables is head, but the output projection of {} "
                                     "is its token embedding; give both or none",
                                     model.name),
                         "resident_tables");
    }
    if (model.learned_positions > 0 && training.sequence > model.learned_positions) {
        throw InputError(fmt::format("--seq is {}, expected at most the {} learned positions of {}",
                                     training.sequence, model.learned_positions, model.name),
                         "seq");
    }
    if (static_cast<double>(training.optimizer_threads) > machine.host.cores) {
        throw InputError(
            fmt::format("--optimizer-threads is {}, expected at most the {:g} cores of {}",
                        training.optimizer_threads, machine.host.cores, machine.id),
            "optimizer_threads");
    }
    if (training.compute == Compute::fp8 &&
        std::any_of(model.kinds.begin(), model.kinds.end(),
                    [](const LayerSpec& kind) { return kind.feed_forward.experts > 0; })) {
        throw InputError(fmt::format("--compute is fp8, but {} has experts, whose products are in "
                                     "bf16 alone; give bf16",
                                     model.name),
                         "compute");
    }
    if (training.head_gradients == Compute::fp8 && model.vocabulary % kFp8Terms != 0) {
        throw InputError(
            fmt::format("--head-gradients is fp8, but the vocabulary of {} has {} tokens, "
                        "no multiple of {}; give bf16",
                        model.name, model.vocabulary, kFp8Terms),
            "head_gradients");
    }
    for (const LayerSpec& kind : model.kinds) {
        const std::int64_t width = kind.feed_forward.intermediate;
        if (training.kept_bits == 16 || width % 8 == 0) continue;
        throw InputError(fmt::format("--kept-bits is {}, but a feed-forward of {} is {} wide, no "
                                     "multiple of 8; give 16",
                                     training.kept_bits, model.name, width),
                         "kept_bits");
    }
    constexpr std::int64_t kMostPasses = 200'000;  // a plan of about a million operations
    if (model.layer_count() * training.micro_batches() > kMostPasses) {
        throw InputError(fmt::format("--micro-batch is {}: {} micro-batches through {} layers "
                                     "exceed the limit of {} passes; give a larger one",
                                     training.micro_batch, training.micro_batches(),
                                     model.layer_count(), kMostPasses),
                         "micro_batch");
    }
}

void check_gpu_products(const MachineSpec& machine, const TrainingSpec& training) {
    if (!training.computes_in_fp8() || machine.gpu.fp8_gemm_flops_per_s > 0) return;
    const std::string field = training.compute == Compute::fp8 ? "compute" : "head_gradients";
    throw InputError(fmt::format("{0} is fp8, but by its profile the GPU of {1} has no FP8 "
                                 "products; leave {0} out",
                                 field_flag(field), machine.id),
                     field);
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

Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Tier tier) {
    const bool device = tier == Tier::device;
    const Bytes there = device ? machine.gpu.memory_capacity - machine.gpu.context
                               : machine.host.memory_capacity - machine.host.system_reserve;
    const double budget = device ? training.device_budget_bytes : training.host_budget_bytes;
    return std::max<Bytes>(0, budget > 0 ? std::min(there, static_cast<Bytes>(budget)) : there);
}

Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training,
              Gaps gaps) {
    const auto operations = static_cast<OperationId>(plan.program.operations.size());
    Fit fit;
    fit.device = {peak_memory(plan.memory, Tier::device, operations),
                  usable_memory(machine, training, Tier::device)};
    if (gaps == Gaps::fewest || machine.unified_memory)
        fit.device.peak = device_peak(plan.memory, operations);
    else if (fit.device.shortfall() == 0)
        fit.device.peak =
            device_peak(plan.memory, operations, static_cast<Bytes>(fit.device.room()));
    fit.host = {peak_memory(plan.memory, Tier::host, operations),
                usable_memory(machine, training, Tier::host)};
    fit.storage.peak = peak_memory(plan.memory, Tier::storage, operations);
    fit.storage.usable =
        machine.storage.capacity > 0 ? machine.storage.capacity : fit.storage.peak.bytes;
    for (const HostMoment& moment : plan.memory.host_moments) {
        fit.host.peak.bytes = std::max(fit.host.peak.bytes, moment.bytes);
    }
    if (machine.unified_memory) {
        fit.host.peak.bytes += fit.device.peak.bytes + machine.gpu.context;
        for (int kind = 0; kind < kMemoryKindCount; ++kind) {
            fit.host.peak.by_kind[static_cast<std::size_t>(kind)] +=
                fit.device.peak.by_kind[static_cast<std::size_t>(kind)];
        }
    }
    return fit;
}

}  // namespace sluice
