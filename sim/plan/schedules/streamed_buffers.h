// Which buffers does the streamed schedule keep, on the device and on the host?
#pragma once

#include <array>
#include <vector>

#include "sim/plan/placement.h"
#include "sim/plan/plan_builder.h"

namespace sluice {

/// The kernels' workspace on the device: what cuBLAS asks for on Hopper.
inline constexpr Bytes kKernelWorkspace = 32 * kMiB;

/// Page-locked host memory through which resident sections are loaded and saved, a piece at a time.
/// Chosen, not measured: a copy of it takes 0.3 ms at 55 GB/s, much longer than its launch.
inline constexpr Bytes kStaging = 16 * kMiB;

/// The device buffers of the streamed schedule, by role. Sections as in `Sections`.
struct StreamedBuffers {
    // These stand for the whole step.
    BufferId weight_slots = kNoBuffer;      ///< parts: places of layers that arrive
    BufferId gradient_slabs = kNoBuffer;    ///< parts: places of gradients that leave
    BufferId coming_back = kNoBuffer;       ///< two checkpoints; only with all of them on the host
    BufferId kernel_workspace = kNoBuffer;  ///< of cuBLAS, and partial sums of reductions
    BufferId fp8_operands = kNoBuffer;      ///< of one product and its gradients; only with FP8
    std::vector<BufferId> fp8_weights;      ///< one a layer, kNoBuffer if fp8_weight_bytes() is 0
    BufferId decoded_weights = kNoBuffer;   ///< of one product; only of a form that is decoded
    BufferId targets = kNoBuffer;           ///< (tokens) int32
    BufferId documents = kNoBuffer;         ///< document_begins_bytes(); only if it is asked for
    /// Sums of each layer in fp32: one buffer for all, or with several passes one each; kNoBuffer
    /// where a single product adds.
    std::vector<BufferId> gradient_sums;
    std::vector<BufferId> resident;  ///< one a section: weights and states; kNoBuffer: on the host
    /// One a layer: gradients that the device holds for clipping; else kNoBuffer.
    std::vector<BufferId> held_gradients;
    /// The gradient of all adapters, and its sums in fp32 where more than one product adds to it.
    BufferId adapter_gradient = kNoBuffer, adapter_sums = kNoBuffer;
    std::vector<BufferId> visits;      ///< one a visiting layer
    BufferId token_index = kNoBuffer;  ///< of the batch; only if the embedding is resident
    BufferId sums = kNoBuffer;         ///< the loss and the square of the gradient's norm
    // These live while operations use them.
    /// One a layer; two in turn where checkpoints go to the host; one for all that are computed
    /// again. The first is the batch's, the others are a pass's. Parts: micro-batches.
    std::vector<BufferId> inputs;
    /// One a layer, kNoBuffer where it keeps nothing for backward, or on the host; that of a visit
    /// where it has its place.
    std::vector<BufferId> kept;
    /// A micro-batch of layers that keep it on the host.
    std::array<BufferId, 2> kept_in_turn = {kNoBuffer, kNoBuffer};
    /// Output projection and final norm, later their gradient; only the gradient if they are
    /// resident, and only the weights if they are frozen.
    BufferId head_weights = kNoBuffer;
    BufferId hidden_gradient = 0;  ///< of the batch; first the last hidden state
    BufferId forward_workspace = 0;
    BufferId backward_workspace = 0;
    BufferId logits = 0;                 ///< of a chunk, and its normed hidden state
    BufferId head_gradient = kNoBuffer;  ///< its sum in fp32; frozen: none
    BufferId row_gradients = kNoBuffer;  ///< of a resident embedding, summed by row in fp32

    /// On the host, for the whole step; kNoBuffer where there is nothing.
    struct OnHost {
        /// Parts: sections. The embedding's are apart where only rows of them are streamed.
        BufferId weights = kNoBuffer, embedding = kNoBuffer;
        BufferId states = kNoBuffer, visiting_states = kNoBuffer;
        BufferId stored_states = kNoBuffer;  ///< on a disk; parts: sections
        BufferId codes = kNoBuffer;          ///< parts: layers
        BufferId staging = kNoBuffer;        ///< kStaging
        /// Gradients of layers that wait, in places of the largest layer's size (Home::host_place).
        BufferId gradients = kNoBuffer, head_gradient = kNoBuffer;
        BufferId rows = kNoBuffer;  ///< parts: embedding rows in, and their gradients out
        BufferId row_sums = kNoBuffer;
        BufferId token_index = kNoBuffer, token_ids = kNoBuffer, documents = kNoBuffer;
        BufferId sums = kNoBuffer;  ///< loss and norm as they left with each section's gradients
        BufferId checkpoints = kNoBuffer;  ///< of host places the whole batch's
        BufferId kept = kNoBuffer;         ///< of host places a part a micro-batch
    } host;
    BufferId host_weights(const Placement& homes, int section) const {
        const bool apart = section == homes.sections.embedding() && host.embedding != kNoBuffer;
        return apart ? host.embedding : host.weights;
    }
    /// Where a layer's states are while they visit.
    BufferId visit(const Placement& homes, int layer) const {
        return visits[static_cast<std::size_t>(layer - homes.visits.first)];
    }
    BufferId host_states(const Placement& homes, int section) const {
        if (homes.home(section, Plane::states).on_storage()) return host.stored_states;
        return homes.is_visiting(section) ? host.visiting_states : host.states;
    }
};

/// Loss and square of the norm.
inline constexpr Bytes kStepSums = 16;
/// Behind them, of a model with experts: the load of the busiest one over the mean, added up.
inline constexpr Bytes kBusiest = 8;

StreamedBuffers declare_streamed_memory(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, const Placement& placement,
                                        PlanBuilder& build);

/// Host memory of loading, first step, steady state and saving.
void declare_streamed_host_moments(const ModelSpec& model, const Placement& placement,
                                   PlanBuilder& build);

}  // namespace sluice
