// Which memory do the operations of a step use: the device's arena, and the host memory that the
// link reads and writes?
#pragma once

#include <span>
#include <vector>

#include "engine/device/device.h"
#include "engine/layers/head_loss.h"
#include "engine/layers/transformer_layer.h"
#include "engine/memory/parameter_store.h"
#include "engine/memory/plane_store.h"
#include "sim/plan/schedules/copies_of_a_pass.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {

class DeviceBuffers {
  public:
    /// The arguments must outlive it.
    DeviceBuffers(const ModelSpec& model, const TrainingSpec& training, const StreamedPlan& plan,
                  const PlaneStore& planes);

    /// For a resident layer: its own weights.
    void* weight_slot(int layer) const;
    /// Size of the slot of a layer that is not resident: that of its weights as they arrive.
    Bytes weight_slot_bytes() const { return weight_slot_bytes_; }
    void* gradient_slab(int layer) const;
    /// Where the states of a visiting layer are meanwhile.
    const ParameterBlock& visit(int layer) const {
        return visits_[static_cast<std::size_t>(layer - homes_.visits.first)];
    }
    /// The layer's gradient has its own place.
    bool holds_gradient(int layer) const {
        return ids_.held_gradients[static_cast<std::size_t>(layer)] != kNoBuffer;
    }
    /// In fp32; null: none are kept.
    void* gradient_sums(int layer) const {
        return at(ids_.gradient_sums[static_cast<std::size_t>(layer)]);
    }
    void* head_weights() const { return at(ids_.head_weights); }  ///< later their gradient
    void* head_gradient_sums() const { return at(ids_.head_gradient); }
    std::int32_t* targets() const { return reinterpret_cast<std::int32_t*>(at(ids_.targets)); }
    /// (micro-batches, their tokens + 1): see Documents; null: attention sees whole sequences.
    std::int32_t* documents() const { return reinterpret_cast<std::int32_t*>(at(ids_.documents)); }
    char* token_index() const { return at(ids_.token_index); }
    float* row_gradients() const { return reinterpret_cast<float*>(at(ids_.row_gradients)); }
    StepSums* sums() const { return reinterpret_cast<StepSums*>(at(ids_.sums)); }

    /// Rows of micro-batch `j` of a layer's input; of the last layer's output if layer is the
    /// number of layers.
    Matrix hidden(int layer, std::int64_t j) const;
    /// Rows of all micro-batches. Precondition: `layer` is the first, or the number of layers.
    Matrix whole_hidden(int layer) const;
    DType activations() const { return type_; }
    bool has_coming_back() const { return ids_.coming_back != kNoBuffer; }
    /// A micro-batch in one of the two places for checkpoints that come back.
    Matrix coming_back(int layer, std::int64_t j) const;
    Workspace forward_workspace() const { return workspace(ids_.forward_workspace); }
    Workspace backward_workspace() const { return workspace(ids_.backward_workspace); }
    /// The operands of products in FP8, which share memory; none in bf16.
    Workspace layer_operands() const {
        return fp8_layers_ ? workspace(ids_.fp8_operands) : Workspace();
    }
    /// A layer's weights for a pass; the `first` of a step finds their scales in FP8.
    LayerWeights weights(int layer, bool first) const {
        if (homes_.arrives_as_codes(layer)) return LayerWeights::arrived(weight_slot(layer));
        const BufferId codes =
            fp8_layers_ ? ids_.fp8_weights[static_cast<std::size_t>(layer)] : kNoBuffer;
        return {weight_slot(layer), workspace(codes), homes_.home(layer, Plane::codes).exists(),
                first};
    }
    Workspace head_operands() const {
        return fp8_head_ ? workspace(ids_.fp8_operands) : Workspace();
    }
    Workspace logits() const { return workspace(ids_.logits); }
    /// Tensors that a layer keeps of micro-batch `j`; an empty workspace if it keeps nothing. Those
    /// that leave are in one of two places, in forward and in backward.
    Workspace kept(Direction direction, int layer, std::int64_t j) const;

  private:
    char* at(BufferId id) const { return planes_.at(id); }
    Bytes bytes(BufferId id) const { return planes_.bytes(id); }
    Workspace workspace(BufferId id) const { return planes_.workspace(id); }

    const PlaneStore& planes_;
    const StreamedBuffers& ids_;
    const Placement& homes_;
    CopiesOfAPass copies_;
    std::int64_t micro_batches_, of_a_pass_, micro_tokens_, hidden_;
    int layers_;
    Bytes slot_bytes_ = 0;         ///< of one layer's gradients
    Bytes weight_slot_bytes_ = 0;  ///< of its weights, in the form in which they arrive
    DType type_;
    bool fp8_layers_, fp8_head_;
    std::vector<ParameterBlock> visits_;
};

/// The place of a batch's index in memory of token_index_bytes(). `memory` may be the device's.
struct TokenIndex {
    TokenIndex(char* memory, std::int64_t tokens)
        : inputs(reinterpret_cast<std::int32_t*>(memory)),
          order(inputs + tokens),
          rows(reinterpret_cast<RowTokens*>(order + tokens)) {}
    std::int32_t *inputs, *order;  ///< each token's row; see TokenRows
    RowTokens* rows;
};

class HostBuffers {
  public:
    /// The arguments must outlive it.
    HostBuffers(const ModelSpec& model, const TrainingSpec& training, const StreamedPlan& plan,
                const PlaneStore& planes);

    /// (tokens, hidden) of the embedding, and their gradients; absent if the embedding is resident.
    Matrix rows_in() const { return rows(planes_.at(ids_.rows)); }
    Matrix rows_out() const { return rows(rows_out_); }
    /// In the device's form; only if the embedding is resident.
    char* token_index() const { return planes_.at(ids_.token_index); }
    void write_token_index(std::span<const std::int32_t> inputs, const TokenRows& rows) const;
    std::int32_t* targets() const { return at<std::int32_t>(ids_.token_ids); }
    /// As on the device.
    std::int32_t* documents() const { return at<std::int32_t>(ids_.documents); }
    /// A layer's or the head's gradients, laid out as its weights, bf16.
    std::uint16_t* gradients(int section) const {
        return reinterpret_cast<std::uint16_t*>(gradients_[static_cast<std::size_t>(section)]);
    }
    /// The device's sums when a section's gradients left.
    StepSums* sums(int section) const { return at<StepSums>(ids_.sums) + section; }
    /// A layer's input on the host. Layer 0's is rows_in() if the embedding is on the host.
    Matrix checkpoint(int layer) const {
        return rows(checkpoints_[static_cast<std::size_t>(layer)]);
    }
    /// The place of what a layer keeps of micro-batch `j`. Precondition: it leaves.
    char* kept(int layer, std::int64_t j) const;
    float* row_sums() const { return at<float>(ids_.row_sums); }

  private:
    template <typename T>
    T* at(BufferId id) const {
        return reinterpret_cast<T*>(planes_.at(id));
    }
    Matrix rows(char* at) const { return {at, type_, tokens_, hidden_}; }

    const PlaneStore& planes_;
    const StreamedBuffers::OnHost& ids_;
    std::int64_t tokens_, hidden_, of_a_pass_;
    DType type_;
    char* rows_out_ = nullptr;
    /// Each layer's input on the host; the rows' where it does not leave.
    std::vector<char*> checkpoints_;
    std::vector<char*> gradients_;  ///< of each layer and the head; null: they do not leave
    /// One a layer and micro-batch of a pass; empty where nothing leaves.
    std::vector<std::vector<char*>> kept_;
};

}  // namespace sluice
