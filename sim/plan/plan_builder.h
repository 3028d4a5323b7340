// How does a schedule build a plan? It adds operations in order, and buffers that live as long as
// operations use them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// An operation's work; PlanBuilder::add gives its place in the step.
Operation copy_operation(double link_bytes, BufferUses uses = {});
Operation host_operation(HostWork work, double bytes, BufferUses uses = {});
Operation gpu_operation(KernelLists kernel_lists, BufferUses uses = {});
/// The same work with these buffers in addition.
Operation also_using(Operation work, const BufferUses& buffers);

class PlanBuilder {
  public:
    /// `eager_operations_per_launch`: host time of a kernel that PyTorch issues, in units of an
    /// eager operation; for operations that do not state theirs.
    explicit PlanBuilder(KernelStyle style, double eager_operations_per_launch = 1,
                         AttentionKernel attention = AttentionKernel::own)
        : eager_operations_per_launch_(eager_operations_per_launch), attention_(attention) {
        plan_.program.style = style;
    }

    /// Adds an operation at the end of the program; the buffers it uses live at least until then.
    /// Ignores dependencies below 0 and kNoBuffer. Without a lane: the first device's usual one.
    OperationId add(OperationKind kind, Lane lane, int layer, Dependencies waits, Operation&& work);
    OperationId add(OperationKind kind, int layer, Dependencies waits, Operation&& work) {
        return add(kind, usual_work(kind), layer, std::move(waits), std::move(work));
    }
    /// Operations that are added from now on belong to this micro-batch; 0: to none.
    void begin_micro_batch(std::int64_t index) { micro_batch_ = static_cast<std::int32_t>(index); }
    /// Adds a dependency to an earlier operation (on an operation of the previous step, which is
    /// known only later).
    void wait(OperationId operation, Dependency on) {
        plan_.program.operations[static_cast<std::size_t>(operation)].waits_for.push_back(on);
    }

    /// Adds an operation whose waits are derived from what it and others read and write.
    OperationId add(OperationKind kind, Lane lane, int layer, Operation&& work) {
        plan_.program.waits_to_derive = true;
        return add(kind, lane, layer, {}, std::move(work));
    }
    OperationId add(OperationKind kind, int layer, Operation&& work) {
        return add(kind, usual_work(kind), layer, std::move(work));
    }
    /// The program lays the device's buffers out in one arena, each with room for the alignment of
    /// the tensors in its `parts`.
    void in_one_arena() { plan_.memory.in_one_arena = true; }
    /// A buffer that lives from the first to the last operation that uses it; never, if none does.
    BufferId buffer(const char* name, MemoryKind kind, Memory memory, double bytes,
                    std::int64_t parts = 1);
    /// A buffer that lives for the whole step; kNoBuffer if it has no bytes.
    BufferId standing(const char* name, MemoryKind kind, Memory memory, double bytes,
                      std::int64_t parts = 1);
    /// The same, by tier.
    BufferId on_host(const char* name, MemoryKind kind, double bytes, std::int64_t parts = 1) {
        return standing(name, kind, Tier::host, bytes, parts);
    }
    /// The same, page-locked.
    BufferId pinned(const char* name, MemoryKind kind, double bytes, std::int64_t parts = 1);
    BufferId on_device(const char* name, MemoryKind kind, double bytes, std::int64_t parts = 1) {
        return standing(name, kind, Tier::device, bytes, parts);
    }
    BufferId device_buffer(const char* name, MemoryKind kind, double bytes,
                           std::int64_t parts = 1) {
        return buffer(name, kind, Tier::device, bytes, parts);
    }
    /// For the whole step on a disk: parts of these bytes, and places on the host for the largest
    /// of them, named `in_use`. No lane but copies of the disk reaches it: what an operation reads
    /// or writes of it comes to the next place before, and goes back after a write; it names each
    /// part once. kNoBuffer if it has no bytes.
    BufferId on_storage(const char* name, const char* in_use, MemoryKind kind,
                        const std::vector<double>& parts, std::int64_t places);
    /// Stores a kernel list once; equal layers share the index.
    std::int32_t kernels(KernelList list);
    struct Moment {
        Bytes bytes;
        const char* what = "";
    };
    /// Host memory over a run, and the resident memory between two steps; 0: as in a steady step.
    void host_moments(Moment loading, Moment first_step, Moment steady, Moment saving,
                      Bytes between_steps = 0);
    /// Adds an assumption of the plan to the report.
    void assume(std::string sentence) { plan_.assumptions.push_back(std::move(sentence)); }
    void note(std::string sentence) { plan_.note = std::move(sentence); }

    OperationId next() const { return static_cast<OperationId>(plan_.program.operations.size()); }
    Bytes host_peak() const { return peak_memory(plan_.memory, Tier::host, next()).bytes; }
    StepPlan finish() { return std::move(plan_); }

    std::int64_t launches(const Operation& operation) const;

  private:
    /// A buffer on a disk, and where its parts are while operations use them.
    struct Stored {
        BufferId buffer, places;
        std::vector<double> bytes;  ///< of each part
        std::int64_t next = 0;      ///< turn
    };
    OperationId add_alone(OperationKind kind, Lane lane, int layer, Dependencies waits,
                          Operation&& work);
    /// Brings what the work uses of stored buffers, and returns the copies that follow it.
    std::vector<Operation> bring_stored(int layer, Operation& work);

    StepPlan plan_;
    std::vector<Stored> stored_;
    double eager_operations_per_launch_;
    AttentionKernel attention_;
    std::int32_t micro_batch_ = 0;
};

}  // namespace sluice
