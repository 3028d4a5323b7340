// Which buffers does the streamed schedule keep, on the device and on the host, and which kernels
// do its passes run?
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// The kernels' workspace on the device: what cuBLAS asks for on Hopper.
inline constexpr Bytes kKernelWorkspace = 32 * kMiB;

/// Page-locked host memory through which resident sections are loaded and saved, a piece at a time.
/// Chosen, not measured: a copy of it takes 0.3 ms at 55 GB/s, much longer than its launch.
inline constexpr Bytes kStaging = 16 * kMiB;

/// The last layers keep tensors for backward between two visits of states, in the same place:
/// that of one visit holds one or several layers, if it holds any.
struct VisitPlaces {
    std::int64_t model_layers = 0;
    std::int64_t layers = 0;  ///< of which a place holds what they keep; 0 if none keeps any
    double bytes = 0;         ///< of such a place
    /// One a visiting layer: the first of the layers that have its place in between; it and those
    /// after it keep everything on the device. The last visit has the last ones. Empty: the visit
    /// has memory of its own.
    std::vector<std::optional<std::int64_t>> first_kept;
};

/// The device buffers of the streamed schedule.
struct StreamedBuffers {
    // These stand for the whole step.
    BufferId weight_slots = kNoBuffer;
    BufferId gradient_slabs = kNoBuffer;
    BufferId coming_back = kNoBuffer;       ///< two checkpoints; only with all of them on the host
    BufferId kernel_workspace = kNoBuffer;  ///< of cuBLAS, and partial sums of reductions
    BufferId fp8_operands = kNoBuffer;      ///< of one product and its gradients; only with FP8
    std::vector<BufferId> fp8_weights;      ///< one a layer, kNoBuffer if fp8_weight_bytes() is 0
    BufferId targets = kNoBuffer;           ///< (tokens) int32
    BufferId documents = kNoBuffer;         ///< document_begins_bytes(); only if it is asked for
    /// Sums of each layer in fp32: one buffer for all, or with several passes one each; kNoBuffer
    /// where a single product adds.
    std::vector<BufferId> gradient_sums;
    /// Weights and states of the resident sections: each layer, the head, the embedding; kNoBuffer
    /// where they are the host's. They have no copy there. The first layers are resident: their
    /// updates come last in backward and are needed first in the next forward, so that no other
    /// layers keep the GPU waiting as long.
    std::vector<BufferId> resident;
    /// Gradients of layers that the device updates, where clipping holds them.
    std::vector<BufferId> held_gradients;
    VisitPlaces visit_places;
    std::vector<BufferId> visits;      ///< one a visiting layer
    BufferId token_index = kNoBuffer;  ///< of the batch; only if the embedding is resident
    BufferId sums = kNoBuffer;         ///< the loss and the square of the gradient's norm
    // These live while operations use them.
    /// One a layer; two in turn where checkpoints go to the host; one for all that are computed
    /// again. The first is the batch's, the others are a pass's.
    std::vector<BufferId> inputs;
    /// One a layer, kNoBuffer where it keeps nothing for backward, or on the host; that of a visit
    /// where kept_beside_visit() says so.
    std::vector<BufferId> kept;
    /// A micro-batch of layers that keep it on the host.
    std::array<BufferId, 2> kept_in_turn = {kNoBuffer, kNoBuffer};
    /// Output projection and final norm, later their gradient; only the gradient if they are
    /// resident.
    BufferId head_weights = 0;
    BufferId hidden_gradient = 0;  ///< of the batch; first the last hidden state
    BufferId forward_workspace = 0;
    BufferId backward_workspace = 0;
    BufferId logits = 0;                 ///< of a chunk, and its normed hidden state
    BufferId head_gradient = 0;          ///< its sum in fp32
    BufferId row_gradients = kNoBuffer;  ///< of a resident embedding, summed by row in fp32
};

/// One a layer that the device updates, none unless clipping holds gradients.
std::vector<BufferId> declare_held_gradients(const ModelSpec& model, const TrainingSpec& training,
                                             PlanBuilder& build);
std::vector<BufferId> declare_visits(const ModelSpec& model, const TrainingSpec& training,
                                     const VisitPlaces& places, PlanBuilder& build);

StreamedBuffers declare_streamed_memory(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, PlanBuilder& build);

/// Host memory of loading, first step, steady state and saving.
void declare_streamed_host_moments(const ModelSpec& model, PlanBuilder& build);

/// Scales of a layer's weights in FP8, and if they are cast once a step their codes in both orders;
/// 0 without FP8, or if codes arrive.
double fp8_weight_bytes(const ModelSpec& model, const TrainingSpec& training, int layer);
std::vector<BufferId> declare_fp8_weights(const ModelSpec& model, const TrainingSpec& training,
                                          PlanBuilder& build);
/// Operands of products in FP8: the most that layers and loss, which take turns, need.
double fp8_operand_bytes(const ModelSpec& model, const TrainingSpec& training);
/// The token index of a batch on the device: each token's row, the tokens in the order of their
/// rows, and for each row in use which tokens are its (see engine/kernels/token_rows.h).
double token_index_bytes(const ModelSpec& model, const TrainingSpec& training);
/// First tokens of the documents of each micro-batch and its end, int32, if each token is one.
Bytes document_begins_bytes(const TrainingSpec& training);
/// Master and moments of a parameter; both 8-bit moments have an fp32 scale for every 128.
double state_bytes(const TrainingSpec& training);
/// Rows of the embedding that a batch can touch at most.
double embedding_rows_in_use(const ModelSpec& model, const TrainingSpec& training);
/// Rows that stand between two steps: those of the next batch's different tokens. All where a batch
/// may touch all.
double rows_updated_first(const ModelSpec& model, const TrainingSpec& training);
/// Pinned layer gradients on the host.
std::int64_t host_gradient_slabs(const TrainingSpec& training);
/// The layer's update runs beside the next forward. Such layers are evenly spread, so that the
/// optimizer has work during the whole of backward and of forward.
bool is_deferred(const ModelSpec& model, const TrainingSpec& training, int layer);
/// The optimizer updates the moments of a layer on the host after its parameters, beside the next
/// backward. Such layers are evenly spread; the head is one if any layer is.
bool has_late_moments(const ModelSpec& model, const TrainingSpec& training, int layer);
/// The layer's states are on the host and visit the device. The first ones do: the optimizer needs
/// the time of their forward for the others.
bool is_visiting(const TrainingSpec& training, int layer);
VisitPlaces visit_places(const ModelSpec& model, const TrainingSpec& training);
struct KeptPlace {
    std::int64_t visit = 0;  ///< 0 is that of the first visiting layer
    std::int64_t part = 0, parts = 1;
};
/// The place of what the layer keeps, where a visit has it.
std::optional<KeptPlace> kept_beside_visit(const VisitPlaces& places, int layer);
/// The layer recomputes nothing.
bool keeps_everything(const ModelSpec& model, const TrainingSpec& training, int layer);
/// At most as many as --keep-last-layers leaves.
std::int64_t host_kept_layers(const ModelSpec& model, const TrainingSpec& training);
/// The training with that number, which is the same plan.
TrainingSpec as_kept(const ModelSpec& model, const TrainingSpec& training);
/// And what it keeps for backward waits on the host. Such layers are evenly spread, so that copies
/// have the time of those between them.
bool keeps_on_host(const ModelSpec& model, const TrainingSpec& training, int layer);
enum class Direction : std::uint8_t { forward, backward };
/// How a layer's micro-batches are copied to and from the host: one by one or, if there are many,
/// several at once, so that a plan has a bounded number of operations. The first and the last one
/// of a pass stay alone: one casts the weights, the other completes the gradients.
class CopiesOfAPass {
  public:
    explicit CopiesOfAPass(const TrainingSpec& training);
    std::int64_t count() const { return of(micro_batches_ - 1) + 1; }
    /// Micro-batches of a copy, the most.
    std::int64_t largest() const { return largest_; }
    /// The copy that has micro-batch `j` of the step, and its place in it.
    std::int64_t of(std::int64_t j) const;
    std::int64_t place_of(std::int64_t j) const;

  private:
    std::int64_t micro_batches_, largest_ = 1;
};
/// Such layers use two device buffers in turn: how many copies of this pass and direction come
/// before that of the micro-batch? Precondition: keeps_on_host().
std::int64_t kept_turn(const ModelSpec& model, const TrainingSpec& training, Direction direction,
                       int layer, std::int64_t micro_batch);
/// Tensors that a layer keeps of each half, in bytes per token. Those in place are what its kernels
/// read and write; gate and up in 8 bits are not.
struct KeptBytes {
    double attention = 0, feed_forward = 0, in_place = 0;
    double all() const { return attention + feed_forward; }
};
KeptBytes kept_bytes(const ModelSpec& model, const TrainingSpec& training, int layer);
/// The layer's weights are cast to FP8 once a step.
bool keeps_weight_codes(const TrainingSpec& training, int layer);
/// The host has codes of the layer's weights, and these are copied to the device.
bool arrives_as_codes(const TrainingSpec& training, int layer);
/// Bytes of such a copy: a scale of 16 bytes for each product and vectors in bf16, then codes of
/// matrices, each aligned to 256 bytes.
double coded_layer_bytes(const ModelSpec& model, const LayerSpec& layer);
/// Bytes of all layers whose codes the host has.
double host_code_bytes(const ModelSpec& model, const TrainingSpec& training);
/// Bytes of the slots in which the weights of layers on the host arrive.
double weight_slot_bytes(const ModelSpec& model, const TrainingSpec& training);
/// Which tensors the layer keeps for backward.
Recompute recompute_of(const ModelSpec& model, const TrainingSpec& training, int layer);
/// The layer's input waits for backward; else it is computed again.
bool saves_input(const TrainingSpec& training, int layer);
/// Backward of the layer computes its input again. That of the last layer is still there.
bool computes_input(const ModelSpec& model, const TrainingSpec& training, int layer);
/// The layer's input waits on the host. The last one that half of the layers save does not leave,
/// and layer 0's, the embedding rows, is there anyway if the host gathers them.
bool input_leaves(const ModelSpec& model, const TrainingSpec& training, int layer);
/// More than one product adds to a weight gradient: it is summed in fp32 and rounded at the end.
bool sums_gradients(const TrainingSpec& training);

/// Kernel lists of one kind of layer, as indices of StepProgram::kernel_lists, in layers that keep
/// everything for backward and in others.
struct StreamedKernels {
    struct Lists {
        std::int32_t keeping = 0, others = 0;
        std::int32_t of(bool keeps) const { return keeps ? keeping : others; }
    };
    Lists forward, forward_later;  ///< of the first micro-batch of a step, and of the next ones
    Lists backward;
    /// By what the layer keeps: before its backward, and before that of the layer above, whose
    /// input it computes again.
    std::array<std::int32_t, 3> recompute{}, forward_again{};
    std::int32_t finish_gradients = 0;  ///< after the last micro-batch
    std::int32_t update = 0;            ///< AdamW on the device
};

/// Those of the head: the loss of a micro-batch, and after the last one.
struct StreamedHeadKernels {
    std::vector<std::int32_t> loss;  ///< a list a chunk, in their order; all but the last are one
    std::int32_t finish_gradients = 0;
    std::int32_t update = 0;  ///< on the device
};
StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build);

/// Those of an embedding that is resident.
struct StreamedEmbeddingKernels {
    std::int32_t gather = 0;    ///< the rows of the batch's tokens
    std::int32_t backward = 0;  ///< the sums of their gradients, by row
    std::int32_t update = 0;
};
StreamedEmbeddingKernels declare_embedding_kernels(const ModelSpec& model,
                                                   const TrainingSpec& training,
                                                   PlanBuilder& build);

/// For each kind of layer of the model, by how the first pass of a step has its weights' codes.
std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      WeightCodes first, PlanBuilder& build);

/// A plan and which of its buffers are what: what the engine executes.
struct StreamedPlan {
    StepPlan step;
    StreamedBuffers buffers;
};
/// A step of --clipping auto whose updates all wait for the norm, as in a run that clips; or one
/// that rightly expects that nothing is clipped, with the operations of both.
enum class ClippedStep : std::uint8_t { waits, ahead };
/// Precondition: as plan_step().
StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, ClippedStep step = ClippedStep::waits);
/// Whether the layer, or the head, is updated before the norm is known in a step that expects that:
/// those on the host that are not deferred.
bool may_update_ahead(const ModelSpec& model, const TrainingSpec& training, int layer);

}  // namespace sluice
