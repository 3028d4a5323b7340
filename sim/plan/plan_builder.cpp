#include "sim/plan/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

// An empty lifetime, since kWholeStep would count an unused buffer for the whole step.
constexpr OperationId kNoFirst = 0, kNoLast = -1;

/// Sums of some ten thousand such buffers fit 64 bits; no machine has that much.
Bytes whole(double bytes) {
    constexpr double kLargestBuffer = 1e14;
    if (!(bytes <= kLargestBuffer)) {
        throw InputError(
            fmt::format(
                "--batch and --seq: a buffer of {:.0f} TB would be needed; give less of them",
                bytes / kTera),
            "batch");
    }
    return static_cast<Bytes>(std::ceil(bytes));
}

}  // namespace

Operation copy_operation(double link_bytes, BufferUses uses) {
    Operation operation;
    operation.link_bytes = link_bytes;
    operation.uses = std::move(uses);
    return operation;
}

Operation host_operation(HostWork work, double bytes, BufferUses uses) {
    Operation operation;
    operation.host_work = work;
    operation.host_bytes = bytes;
    operation.uses = std::move(uses);
    return operation;
}

Operation gpu_operation(KernelLists kernel_lists, BufferUses uses) {
    Operation operation;
    operation.kernels = std::move(kernel_lists);
    operation.uses = std::move(uses);
    return operation;
}

Operation also_using(Operation work, const BufferUses& buffers) {
    work.uses.append(buffers);
    return work;
}

std::int64_t PlanBuilder::launches(const Operation& operation) const {
    std::int64_t all = 0;
    for (const std::int32_t list : operation.kernels)
        all += total_launches(plan_.program.kernel_lists[static_cast<std::size_t>(list)]);
    return all;
}

OperationId PlanBuilder::add(OperationKind kind, Lane lane, int layer, Dependencies waits,
                             Operation&& work) {
    if (stored_.empty()) return add_alone(kind, lane, layer, std::move(waits), std::move(work));
    std::vector<Operation> back = bring_stored(layer, work);
    const OperationId id = add_alone(kind, lane, layer, std::move(waits), std::move(work));
    for (Operation& copy : back)
        add_alone(OperationKind::write_states, Work::storage_write, layer, {}, std::move(copy));
    return id;
}

std::vector<Operation> PlanBuilder::bring_stored(int layer, Operation& work) {
    std::vector<Operation> back;
    std::vector<BufferUse> brought;
    for (BufferUse& use : work.uses) {
        const auto stored = std::ranges::find(stored_, use.buffer, &Stored::buffer);
        if (stored == stored_.end() || use.as == BufferUse::As::holds) continue;
        const BufferUse far = use;
        if (far.parts != 1 || std::ranges::count(brought, far.part, &BufferUse::part) > 0)
            throw InternalError("an operation names each part on a disk once, by itself");
        brought.push_back(far);
        const std::int64_t places =
            plan_.memory.buffers[static_cast<std::size_t>(stored->places)].parts;
        if (static_cast<std::int64_t>(brought.size()) > places)
            throw InternalError("an operation uses more parts on a disk than have places");
        const std::int64_t place = stored->next++ % places;
        const double bytes = stored->bytes[static_cast<std::size_t>(far.part)];
        add_alone(
            OperationKind::read_states, Work::storage_read, layer, {},
            copy_operation(bytes, {reads(far.buffer, far.part), writes(stored->places, place)}));
        use = {far.as, stored->places, place, 1};
        if (far.as == BufferUse::As::writes)
            back.push_back(copy_operation(
                bytes, {reads(stored->places, place), writes(far.buffer, far.part)}));
    }
    return back;
}

OperationId PlanBuilder::add_alone(OperationKind kind, Lane lane, int layer, Dependencies waits,
                                   Operation&& work) {
    const OperationId id = next();
    work.kind = kind;
    work.lane = lane;
    work.layer = layer;
    if (micro_batch_ != 0) work.micro_batch = micro_batch_;
    work.waits_for = std::move(waits);
    work.waits_for.erase_if([](const Dependency& on) { return on.operation < 0; });
    work.uses.erase_if([](const BufferUse& use) { return use.buffer == kNoBuffer; });
    if (plan_.program.style != KernelStyle::fused && work.eager_operations == 0)
        work.eager_operations = eager_operations_per_launch_ * static_cast<double>(launches(work));
    for (const BufferUse& use : work.uses) {
        if (use.buffer == kStepOutcome) continue;
        Buffer& used = plan_.memory.buffers[static_cast<std::size_t>(use.buffer)];
        if (used.first == kWholeStep) continue;
        if (used.last < used.first) used.first = id;
        used.last = id;
    }
    // A search makes many plans of about as many operations.
    thread_local std::size_t many = 0;
    if (id == 0) plan_.program.operations.reserve(many);
    plan_.program.operations.push_back(std::move(work));
    many = plan_.program.operations.size();
    return id;
}

BufferId PlanBuilder::buffer(const char* name, MemoryKind kind, Memory memory, double bytes,
                             std::int64_t parts) {
    plan_.memory.buffers.push_back({name, kind, memory, whole(bytes), kNoFirst, kNoLast, parts});
    return static_cast<BufferId>(plan_.memory.buffers.size()) - 1;
}

BufferId PlanBuilder::standing(const char* name, MemoryKind kind, Memory memory, double bytes,
                               std::int64_t parts) {
    if (bytes <= 0) return kNoBuffer;
    plan_.memory.buffers.push_back(
        {name, kind, memory, whole(bytes), kWholeStep, kWholeStep, parts});
    return static_cast<BufferId>(plan_.memory.buffers.size()) - 1;
}

BufferId PlanBuilder::pinned(const char* name, MemoryKind kind, double bytes, std::int64_t parts) {
    const BufferId id = on_host(name, kind, bytes, parts);
    if (id != kNoBuffer) plan_.memory.buffers[static_cast<std::size_t>(id)].pinned = true;
    return id;
}

BufferId PlanBuilder::on_storage(const char* name, const char* in_use, MemoryKind kind,
                                 const std::vector<double>& parts, std::int64_t places) {
    double all = 0, largest = 0;
    for (const double bytes : parts) all += bytes, largest = std::max(largest, bytes);
    if (all <= 0) return kNoBuffer;
    plan_.program.waits_to_derive = true;
    const BufferId id =
        standing(name, kind, Tier::storage, all, static_cast<std::int64_t>(parts.size()));
    const double on_host = static_cast<double>(places) * largest;
    stored_.push_back({id, pinned(in_use, MemoryKind::pinned_buffers, on_host, places), parts});
    return id;
}

std::int32_t PlanBuilder::kernels(KernelList list) {
    for (Kernel& kernel : list) kernel.attention = attention_;
    plan_.program.kernel_lists.push_back(std::move(list));
    return static_cast<std::int32_t>(plan_.program.kernel_lists.size()) - 1;
}

void PlanBuilder::host_moments(Moment loading, Moment first_step, Moment steady, Moment saving,
                               Bytes between_steps) {
    plan_.memory.host_moments = {{"loading", loading.bytes, loading.what},
                                 {"first step", first_step.bytes, first_step.what},
                                 {"steady", steady.bytes, steady.what, true},
                                 {"saving", saving.bytes, saving.what}};
    plan_.memory.host_between_steps = between_steps == 0 ? steady.bytes : between_steps;
}

}  // namespace sluice
