// Which operations does one training step have, in which order, on which lane, and what does each
// wait for? The plan that is simulated and executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/in_order.h"
#include "sim/base/short_vector.h"
#include "sim/base/units.h"
#include "sim/plan/lane.h"
#include "sim/specs/machine/collective_time.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/layer_kernels.h"

namespace sluice {

enum class OperationKind : std::uint8_t {
    copy_embeddings_in,  ///< rows of the batch's tokens
    copy_weights_in,
    copy_checkpoint_in,
    copy_kept_in,    ///< all that a layer kept for backward
    copy_states_in,  ///< a layer's master and moments, for its update on the device
    unflatten,       ///< from the streamed buffer into a layer's tensors (megatrain)
    forward,
    loss,
    backward,
    embedding_backward,
    copy_gradients_out,
    copy_gradients_in,  ///< back to the device, for their norm (zero3-offload)
    copy_checkpoint_out,
    copy_kept_out,
    copy_weights_out,    ///< updated on the device
    copy_states_out,     ///< all others of the states that came in
    update_ahead,        ///< of a layer, before the norm is known, in steps that expect no clipping
    update,              ///< the optimizer on one layer
    update_moments,      ///< of a layer whose parameters were updated alone
    scatter_embeddings,  ///< gradients of token rows into the embedding's
    gather_embeddings,   ///< rows of the next batch's tokens
    collect_gradients,   ///< from a pinned slab to the parameter's gradient
    clip_gradients,
    copy_to_pinned,  ///< updated weights into the pinned copy that is streamed
    zero_gradients,
    flatten_weights,  ///< into the pinned buffer from which they are copied
    read_weights,     ///< from storage, here and below (zero-infinity)
    write_weights,
    write_gradients,
    read_states,  ///< what the optimizer updates: masters, moments, gradients
    write_states,
    all_gather,  ///< of a layer's weights, this one and the next (cluster)
    reduce_scatter,
    all_reduce,
    join_gradients,  ///< of a layer, in one buffer that is reduced
    issue,           ///< Python that queues the GPU's work
};
const char* operation_name(OperationKind kind);
/// The usual work of an operation's lane, if a plan does not give another.
Work usual_work(OperationKind kind);

/// Work on host memory; each kind has its own rate on a machine.
enum class HostWork : std::uint8_t {
    none,
    adam,
    adam_parameters,  ///< the moments are only read
    adam_moments,     ///< the parameters are left alone
    eager_adam,
    copy,
    first_touch,
    zero_and_release,
    scale_fp32,           ///< in place
    norm_and_scale,       ///< clip_grad_norm_ on bf16 gradients
    norm_and_scale_fp32,  ///< the same on fp32 gradients
};

using OperationId = std::int32_t;
using BufferId = std::int32_t;
inline constexpr BufferId kNoBuffer = -1;

/// The step's loss and norm on the host, and with them whether the step is valid: what operations
/// read and write beside buffers.
inline constexpr BufferId kStepOutcome = -2;

/// How an operation uses a buffer, or some of its parts (see Buffer): it reads or writes them, or
/// it only needs it to be alive. Copies of our schedule go from what they read to what they write.
struct BufferUse {
    enum class As : std::uint8_t { holds, reads, writes };
    BufferId buffer = kNoBuffer;
    As as = As::holds;
    std::int32_t part = 0, parts = 1;
    BufferUse(BufferId id = kNoBuffer) : buffer(id) {}
    BufferUse(As how, BufferId id, std::int64_t first, std::int64_t count)
        : buffer(id),
          as(how),
          part(static_cast<std::int32_t>(first)),
          parts(static_cast<std::int32_t>(count)) {}
};
inline BufferUse reads(BufferId id, std::int64_t part = 0, std::int64_t parts = 1) {
    return {BufferUse::As::reads, id, part, parts};
}
inline BufferUse writes(BufferId id, std::int64_t part = 0, std::int64_t parts = 1) {
    return {BufferUse::As::writes, id, part, parts};
}

using BufferUses = ShortVector<BufferUse, 10>;

/// A dependency on an operation of this step or the previous one.
struct Dependency {
    OperationId operation = 0;
    bool previous_step = false;
};
using Dependencies = ShortVector<Dependency, 4>;
/// Indices of StepProgram::kernel_lists.
using KernelLists = ShortVector<std::int32_t, 4>;

inline constexpr int kEmbeddingLayer =
    -1;  ///< Operation::layer of the embedding; the head is layer_count()

struct Operation {
    OperationKind kind = OperationKind::forward;
    Lane lane;
    std::int32_t layer = 0;
    std::int32_t micro_batch = 0;    ///< the first of `micro_batches`
    std::int32_t micro_batches = 1;  ///< that follow each other, with `kernels` for each of them
    Dependencies waits_for;          ///< on other lanes; its own lane is in order anyway
    BufferUses uses;                 ///< of buffers that are alive while it runs
    KernelLists kernels;             ///< run one after another
    double kernel_runs = 1;          ///< of each of them; a mean over GPUs may be no whole number
    double eager_operations = 0;     ///< host time of issuing it, in units of an eager PyTorch
                                     /// operation (lanes compute, which is no faster, and python)
    Seconds at_least = 0;   ///< of the lane compute: other GPUs take that long for the same turn
    double link_bytes = 0;  ///< over the host link (lanes host_to_device, device_to_host), or from
                            ///< and to storage (its lanes)
    bool pageable = false;  ///< the copy is not from or to pinned memory
    bool to_fresh_pages = false;  ///< the copy is to pageable memory that the system maps during it
    Collective collective = Collective::none;  ///< of the lane interconnect
    double collective_bytes = 0;  ///< of the whole array; link_bytes is the part that is sent
    HostWork host_work = HostWork::none;
    double host_bytes = 0;  ///< payload of host_work, in the unit of its rate
    double host_share = 1;  ///< share of that rate, if fewer threads than the machine's work on it
};

/// "3", or "3 to 9".
std::string micro_batches_text(const Operation& operation);
/// "backward 12", "loss", "weights in (embedding)": an operation and its layer.
std::string operation_label(const Operation& operation, int layers);

struct StepProgram {
    KernelStyle style = KernelStyle::fused;
    std::vector<KernelList> kernel_lists;  ///< shared by operations of equal layers
    std::vector<Operation> operations;     ///< a valid order of execution: every dependency points
                                           ///< back, or to the previous step
    bool waits_to_derive = false;          ///< from what operations read and write: derive_waits()
    Flops flops() const;                   ///< executed by one step
    int devices() const;                   ///< on which it has lanes; 1 at least
};

/// The first operation of that kind and layer. Throws InternalError if there is none.
OperationId find_operation(const StepProgram& program, OperationKind kind, int layer);

}  // namespace sluice
