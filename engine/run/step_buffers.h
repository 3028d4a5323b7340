// Which memory do the operations of a step use, on the device and on the host?
#pragma once

#include <array>
#include <span>

#include "engine/device/device.h"
#include "engine/layers/head_loss.h"
#include "engine/layers/transformer_layer.h"
#include "engine/memory/parameter_store.h"
#include "engine/memory/plane_store.h"

namespace sluice {

/// The place of a batch's index in memory of token_index_bytes(). `memory` may be the device's.
struct TokenIndex {
    TokenIndex(char* memory, std::int64_t tokens)
        : inputs(reinterpret_cast<std::int32_t*>(memory)),
          order(inputs + tokens),
          rows(reinterpret_cast<RowTokens*>(order + tokens)) {}
    std::int32_t *inputs, *order;  ///< each token's row; see TokenRows
    RowTokens* rows;
};

class StepBuffers {
  public:
    /// The arguments must outlive it.
    StepBuffers(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes);

    // On the device.

    /// For a resident layer: its own weights.
    void* weight_slot(int layer) const;
    /// Size of the slot of a layer that is not resident: that of its weights as they arrive.
    Bytes weight_slot_bytes() const {
        return planes_.parts().part(ids_.weight_slots).front().bytes;
    }
    void* gradient_slab(int layer) const;
    /// Where the states of a visiting layer are meanwhile.
    ParameterBlock visit(int layer) const { return planes_.visit(layer); }
    /// The layer's gradient has its own place.
    bool holds_gradient(int layer) const {
        return ids_.held_gradients[static_cast<std::size_t>(layer)] != kNoBuffer;
    }
    /// The gradient of all adapters: bf16, and its sums in fp32, or null if there are none.
    void* adapter_gradient() const { return at(ids_.adapter_gradient); }
    void* adapter_sums() const { return at(ids_.adapter_sums); }
    /// Their weights on the device.
    void* adapters() const {
        return at(ids_.resident[static_cast<std::size_t>(homes_.sections.adapters())]);
    }
    /// In fp32; null: none are kept.
    void* gradient_sums(int layer) const {
        return at(ids_.gradient_sums[static_cast<std::size_t>(layer)]);
    }
    void* head_weights() const { return at(ids_.head_weights); }  ///< later their gradient
    void* head_gradient_sums() const { return at(ids_.head_gradient); }
    std::int32_t* targets() const { return at<std::int32_t>(ids_.targets); }
    /// (micro-batches, their tokens + 1): see Documents; null: attention sees whole sequences.
    std::int32_t* documents() const { return at<std::int32_t>(ids_.documents); }
    TokenIndex token_index() const { return {at(ids_.token_index), shape_.tokens()}; }
    float* row_gradients() const { return at<float>(ids_.row_gradients); }
    StepSums* sums() const { return at<StepSums>(ids_.sums); }
    /// Behind them; null: no layer has experts.
    double* busiest() const {
        return has_experts_ ? reinterpret_cast<double*>(sums() + 1) : nullptr;
    }

    /// Rows of micro-batch `j` of a layer's input; of the last layer's output if layer is the
    /// number of layers.
    Matrix hidden(int layer, std::int64_t j) const;
    /// Where the input of a backward's layer is.
    Matrix backward_input(const Operation& op, std::int64_t j) const;
    /// Rows of all micro-batches. Precondition: `layer` is the first, or the number of layers.
    Matrix whole_hidden(int layer) const;
    Workspace forward_workspace() const { return workspace(ids_.forward_workspace); }
    Workspace backward_workspace() const { return workspace(ids_.backward_workspace); }
    /// The operands of products in FP8, which share memory; none in bf16.
    Workspace layer_operands() const {
        return shape_.compute == Compute::fp8 ? workspace(ids_.fp8_operands) : Workspace();
    }
    /// A layer's weights for a pass; the `first` of a step finds their scales in FP8.
    LayerWeights weights(int layer, bool first) const {
        const WeightForm& form = homes_.weights(layer);
        return {
            weight_slot(layer), form.form,
            workspace(form.decoded_from > 0 ? ids_.decoded_weights
                                            : ids_.fp8_weights[static_cast<std::size_t>(layer)]),
            homes_.home(layer, Plane::codes).exists(), first};
    }
    Workspace head_operands() const {
        return shape_.head_gradients == Compute::fp8 ? workspace(ids_.fp8_operands) : Workspace();
    }
    Workspace logits() const { return workspace(ids_.logits); }
    /// Where an operation has what a layer keeps of micro-batch `j`; an empty workspace if it keeps
    /// nothing.
    Workspace kept(const Operation& op, int layer, std::int64_t j) const;

    // On the host.

    /// (tokens, hidden) of the embedding, and their gradients; only if the host gathers them.
    Matrix rows_in() const { return rows(0); }
    Matrix rows_out() const { return rows(1); }
    void write_token_index(std::span<const std::int32_t> inputs, const TokenRows& rows) const;
    std::int32_t* host_targets() const { return at<std::int32_t>(ids_.host.token_ids); }
    /// As on the device.
    std::int32_t* host_documents() const { return at<std::int32_t>(ids_.host.documents); }
    /// A layer's or the head's gradients, laid out as its weights, bf16. Precondition: they leave.
    std::uint16_t* host_gradients(int section) const;
    /// The device's sums when a section's gradients left.
    StepSums* host_sums(int section) const { return at<StepSums>(ids_.host.sums) + section; }
    /// The device's, when the embedding's gradients left. Precondition: a layer has experts.
    double* host_busiest() const {
        return reinterpret_cast<double*>(host_sums(homes_.sections.count()));
    }
    float* row_sums() const { return at<float>(ids_.host.row_sums); }

  private:
    char* at(BufferId id) const { return planes_.at(id); }
    template <typename T>
    T* at(BufferId id) const {
        return reinterpret_cast<T*>(at(id));
    }
    Workspace workspace(BufferId id) const { return planes_.workspace(id); }
    Matrix micro_batch(char* start) const {
        return {start, type_, shape_.micro_batch.tokens(), hidden_};
    }
    /// The batch's rows on the host.
    Matrix rows(std::int64_t place) const {
        return {planes_.part(ids_.host.rows, place * shape_.micro_batches), type_, shape_.tokens(),
                hidden_};
    }
    /// The place of micro-batch `j` in the turn of one of these buffers that the operation uses.
    BufferBlock in_turn(const Operation& op, std::array<BufferId, 2> of, std::int64_t j) const;
    /// A layer's input, or the output of the last one.
    BufferId input(int layer) const {
        return layer == homes_.sections.layers ? ids_.hidden_gradient
                                               : ids_.inputs[static_cast<std::size_t>(layer)];
    }

    const PlaneStore& planes_;
    const StreamedBuffers& ids_;
    const Placement& homes_;
    const StepShape& shape_;
    std::int64_t hidden_;
    DType type_;
    bool has_experts_;
};

}  // namespace sluice
