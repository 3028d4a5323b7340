// Our schedule. Per step: forward over layers with weights arriving ahead in `buffer_depth` slots,
// only layer inputs kept; a chunked loss; backward from the last layer, weights arriving again
// unless still in a slot, one recompute of what backward reads; gradients leave layer by layer and
// the optimizer applies them while backward goes on.
//
// The token embedding never comes to the device: the host gathers the rows of the batch's tokens,
// which are layer 0's input, and scatters their gradients. Only the rows that the next
// batch uses are updated between two steps; the others are updated while the next forward runs (the
// update of every row is still exact).
//
//   host_to_device  rows | w0 w1 w2 ...            head |        w.. w1 w0
//   compute                   f0 f1 f2 ...               loss b.. b2 b1 b0 emb
//   device_to_host                                            gh  g.. g2 g1 g0 rows
//   optimizer                                                  uh  u.. u2 u1 u0 rows gather rest
#include <algorithm>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/shapes.h"
#include "sim/plan/schedules/streamed_kernels.h"

namespace sluice {
namespace {

class Streamed {
  public:
    Streamed(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          t_(training),
          layers_(model.layer_count()),
          micro_(training.micro_batches()),
          build_(KernelStyle::fused),
          state_(static_cast<std::size_t>(layers_)) {}

    StreamedPlan plan() {
        kernels_ = declare_streamed_kernels(model_, t_, build_);
        head_kernels_ = declare_head_kernels(model_, t_, build_);
        buffers_ = declare_streamed_memory(model_, machine_, t_, build_);
        forward();
        loss();
        for (int layer = layers_ - 1; layer >= 0; --layer) backward(layer);
        embedding_tail();
        updates_before_next_forward();
        declare_streamed_host_moments(model_, build_);
        return {build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_))),
                std::move(buffers_)};
    }

  private:
    struct LayerState {
        OperationId weights_in_forward = 0, weights_in_backward = -1;
        OperationId last_forward = 0, last_backward = 0;
        OperationId gradients_out = 0, update = 0;
        std::vector<OperationId> checkpoint_out;  // one a micro-batch, host checkpoints only
    };

    bool updates_wait_for_norm() const { return t_.clipping == Clipping::exact; }
    double head_params() const { return static_cast<double>(head_parameters(model_)); }
    bool tied() const { return model_.tied_embeddings; }
    LayerState& state(int layer) { return state_[static_cast<std::size_t>(layer)]; }
    double parameters(int layer) const { return parameters_of_layer(model_, layer); }
    OperationId checkpoint_out_of(int layer, std::int32_t j) {
        return state(layer).checkpoint_out[static_cast<std::size_t>(j)];
    }
    BufferId input(int layer) const { return buffers_.inputs[static_cast<std::size_t>(layer)]; }
    BufferId kept(int layer) const { return buffers_.kept[static_cast<std::size_t>(layer)]; }
    const StreamedKernels& kernels(int layer) const {
        return kernels_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(layer)])];
    }

    OperationId weights_in(int layer, std::vector<Dependency> waits) {
        return build_.add(OperationKind::copy_weights_in, Lane::host_to_device, layer,
                          std::move(waits), copy_operation(kBf16 * parameters(layer)));
    }

    void head_weights_in() {
        head_in_ = build_.add(
            OperationKind::copy_weights_in, Lane::host_to_device, layers_, {},
            copy_operation(table_bytes(model_) + hidden_bytes(model_), {buffers_.head_weights}));
    }

    OperationId embeddings_in() {
        return build_.add(OperationKind::copy_embeddings_in, Lane::host_to_device, kEmbeddingLayer,
                          {}, copy_operation(input_bytes(model_, t_) + 4 * tokens(t_), {input(0)}));
    }

    /// Layer l always streams into slot l % depth, free again when layer l - depth has finished.
    void forward() {
        const int depth = static_cast<int>(t_.buffer_depth);
        // The rows of the embedding are ready last in the step before. One layer's weights go ahead
        // of them, no more: compute could not start before the last of these. Measured on an H200
        // (8 layers of 7B): a second layer ahead of the rows kept compute waiting 10.6 ms longer.
        const int ahead = 1;
        for (int layer = 0; layer < std::min(depth, layers_); ++layer) {
            if (layer == ahead) embeddings_in_ = embeddings_in();
            state(layer).weights_in_forward = weights_in(layer, {});
        }
        if (ahead == std::min(depth, layers_)) embeddings_in_ = embeddings_in();
        if (depth >= layers_) head_weights_in();
        for (int layer = 0; layer < layers_; ++layer) {
            for (std::int32_t j = 0; j < micro_; ++j) forward_micro_batch(layer, j);
            const int next = layer + depth;
            if (next < layers_)
                state(next).weights_in_forward =
                    weights_in(next, {{state(layer).last_forward, false}});
            if (next == layers_ - 1) head_weights_in();
        }
    }

    void forward_micro_batch(int layer, std::int32_t j) {
        std::vector<Dependency> waits = {{state(layer).weights_in_forward, false}};
        if (layer == 0) waits.push_back({embeddings_in_, false});
        // With two inputs in turn, this layer's output overwrites the input of the layer before.
        if (host_checkpoints(t_) && layer >= 2)
            waits.push_back({checkpoint_out_of(layer - 1, j), false});
        Operation op =
            gpu_operation({kernels(layer).forward},
                          {input(layer), buffers_.forward_workspace,
                           layer + 1 < layers_ ? input(layer + 1) : buffers_.hidden_gradient});
        op.micro_batch = j;
        if (kept(layer) >= 0) op.uses.push_back(kept(layer));
        // The head's weights may arrive while the last layers in slots run.
        if (layer >= layers_ - static_cast<int>(t_.buffer_depth))
            op.uses.push_back(buffers_.head_weights);
        state(layer).last_forward = build_.add(OperationKind::forward, Lane::compute, layer,
                                               std::move(waits), std::move(op));
        if (host_checkpoints(t_) && layer + 1 < layers_) checkpoint_out(layer + 1, j);
    }

    /// The input of `layer`, micro-batch `j`, leaves; layer 0's is the embedding rows, which the
    /// host has.
    void checkpoint_out(int layer, std::int32_t j) {
        Operation op =
            copy_operation(micro_batch_tokens(t_) * hidden_bytes(model_), {input(layer)});
        op.micro_batch = j;
        state(layer).checkpoint_out.push_back(
            build_.add(OperationKind::copy_checkpoint_out, Lane::device_to_host, layer,
                       {{state(layer - 1).last_forward, false}}, std::move(op)));
    }

    void loss() {
        OperationId last = 0;
        for (std::int32_t j = 0; j < micro_; ++j) {
            std::vector<Dependency> waits = {{head_in_, false}};
            Operation op =
                gpu_operation(head_kernels_.loss, {buffers_.hidden_gradient, buffers_.head_weights,
                                                   buffers_.logits, buffers_.head_gradient});
            op.micro_batch = j;
            if (j == 0) wait_for_checkpoints(waits, op);
            if (j + 1 == micro_) op.kernels.push_back(head_kernels_.finish_gradients);
            last = build_.add(OperationKind::loss, Lane::compute, layers_, std::move(waits),
                              std::move(op));
        }
        const OperationId out = gradients_out(layers_, table_bytes(model_) + hidden_bytes(model_),
                                              last, buffers_.head_weights);
        if (!tied() && !updates_wait_for_norm()) head_update_ = update(layers_, head_params(), out);
    }

    /// The memory of the two inputs in turn is used again from the loss on, so it waits for the
    /// last copies out of them; copies leave in order.
    void wait_for_checkpoints(std::vector<Dependency>& waits, Operation& op) const {
        if (!host_checkpoints(t_) || layers_ == 1) return;
        waits.push_back({state_.back().checkpoint_out.back(), false});
        op.uses.insert(op.uses.end(), {input(0), input(1)});
    }

    /// From a slab that is always there, or from the buffer `from`.
    OperationId gradients_out(int layer, double bytes, OperationId after, BufferId from = -1) {
        Operation op = copy_operation(bytes);
        if (from >= 0) op.uses = {from};
        return build_.add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                          {{after, false}}, std::move(op));
    }

    OperationId update(int layer, double params, OperationId after) {
        return build_.add(OperationKind::update, Lane::optimizer, layer, {{after, false}},
                          host_operation(HostWork::adam, params * adam_traffic(t_.state_bytes)));
    }

    void backward(int layer) {
        LayerState& s = state(layer);
        const int depth = static_cast<int>(t_.buffer_depth);
        const bool in_slot = layer >= layers_ - depth;
        if (!in_slot)
            s.weights_in_backward =
                weights_in(layer, {{state(layer + depth).last_backward, false}});
        for (std::int32_t j = 0; j < micro_; ++j) backward_micro_batch(layer, j);
        s.gradients_out = gradients_out(layer, kBf16 * parameters(layer), s.last_backward);
        const int slabs = static_cast<int>(host_gradient_slabs(t_));
        if (updates_wait_for_norm()) return;
        if (layer + slabs < layers_)
            build_.wait(s.gradients_out, {state(layer + slabs).update, false});
        s.update = update(layer, parameters(layer), s.gradients_out);
    }

    void backward_micro_batch(int layer, std::int32_t j) {
        LayerState& s = state(layer);
        const StreamedKernels& k = kernels(layer);
        std::vector<Dependency> waits;
        if (s.weights_in_backward >= 0) waits.push_back({s.weights_in_backward, false});
        const int slabs = static_cast<int>(t_.gradient_slabs);
        if (j == 0 && layer + slabs < layers_)
            waits.push_back({state(layer + slabs).gradients_out, false});
        const bool keeps = keeps_everything(model_, t_, layer);
        Operation op = gpu_operation(
            {keeps ? k.recompute_nothing : k.recompute, k.backward},
            {buffers_.backward_workspace, buffers_.hidden_gradient, buffers_.head_weights});
        op.micro_batch = j;
        if (j + 1 == micro_) op.kernels.push_back(k.finish_gradients);
        if (host_checkpoints(t_)) {
            waits.push_back({checkpoint_in(layer, j), false});
        } else {
            op.uses.push_back(input(layer));
        }
        if (kept(layer) >= 0) op.uses.push_back(kept(layer));
        s.last_backward = build_.add(OperationKind::backward, Lane::compute, layer,
                                     std::move(waits), std::move(op));
        backwards_.push_back(s.last_backward);
    }

    /// Two places for checkpoints coming back: each waits until backward has used the one two
    /// before.
    OperationId checkpoint_in(int layer, std::int32_t j) {
        std::vector<Dependency> waits;
        if (backwards_.size() >= 2) waits.push_back({backwards_[backwards_.size() - 2], false});
        if (layer >= 1) waits.push_back({checkpoint_out_of(layer, j), false});
        Operation op = copy_operation(micro_batch_tokens(t_) * hidden_bytes(model_));
        op.micro_batch = j;
        return build_.add(OperationKind::copy_checkpoint_in, Lane::host_to_device, layer,
                          std::move(waits), std::move(op));
    }

    OperationId on_embedding(OperationKind kind, double bytes, std::vector<Dependency> waits) {
        return build_.add(kind, Lane::optimizer, kEmbeddingLayer, std::move(waits),
                          host_operation(HostWork::copy, bytes));
    }

    /// Gradients of the rows leave and are summed by row; rows of the next batch are updated first,
    /// then all others. Exact clipping updates everything from here on, in the order in which the
    /// next forward needs it.
    void embedding_tail() {
        const double row_bytes = input_bytes(model_, t_);
        const OperationId out = gradients_out(kEmbeddingLayer, row_bytes, state(0).last_backward,
                                              buffers_.hidden_gradient);
        // Per element: read 2 B, add into 4 B: 10 B of traffic, 5 B of payload at the rate of a
        // copy.
        scatter_ = on_embedding(OperationKind::scatter_embeddings, 2.5 * row_bytes, {{out, false}});
        const auto all = static_cast<double>(embedding_parameters(model_));
        const double first = rows_updated_first(model_, t_) * static_cast<double>(model_.hidden);
        update(kEmbeddingLayer, first, out);
        gather_ = on_embedding(OperationKind::gather_embeddings, row_bytes, {});
        if (updates_wait_for_norm()) {
            for (int layer = 0; layer < layers_; ++layer)
                state(layer).update = update(layer, parameters(layer), out);
            if (!tied()) head_update_ = update(layers_, head_params(), out);
        }
        if (first < all) rest_update_ = update(kEmbeddingLayer, all - first, out);
    }

    void updates_before_next_forward() {
        for (int layer = 0; layer < layers_; ++layer)
            build_.wait(state(layer).weights_in_forward, {state(layer).update, true});
        // Only now is the norm known, and with it whether this step stands.
        build_.wait(state(0).weights_in_forward, {scatter_, true});
        build_.wait(embeddings_in_, {gather_, true});
        const OperationId table_update = tied() ? rest_update_ : head_update_;
        build_.wait(head_in_, {table_update >= 0 ? table_update : gather_, true});
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const int layers_;
    const std::int64_t micro_;
    PlanBuilder build_;

    std::vector<StreamedKernels> kernels_;  // one a kind of layer
    StreamedHeadKernels head_kernels_;
    std::vector<LayerState> state_;
    std::vector<OperationId> backwards_;
    StreamedBuffers buffers_;
    OperationId embeddings_in_ = 0, head_in_ = 0, head_update_ = -1, rest_update_ = -1;
    OperationId scatter_ = 0, gather_ = 0;
};

}  // namespace

StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training) {
    return Streamed(model, machine, training).plan();
}

}  // namespace sluice
