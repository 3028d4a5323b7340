// Our schedule. Forward over layers: weights arrive ahead in `buffer_depth` slots, only layer
// inputs are kept. A chunked loss. Backward from the last layer: weights arrive again unless still
// in a slot, what it reads is recomputed, gradients leave and the optimizer applies them meanwhile.
//
// The token embedding never comes to the device: the host gathers the rows of the batch's tokens,
// which are layer 0's input, and scatters their gradients. Only the rows that the next batch uses
// are updated between two steps; the others are updated while the next forward runs.
//
//   host_to_device  rows | w0 w1 w2 ...            head |        w.. w1 w0
//   compute                   f0 f1 f2 ...               loss b.. b2 b1 b0 emb
//   device_to_host                                            gh  g.. g2 g1 g0 rows
//   optimizer                                                  uh  u.. u2 u1 u0 rows gather rest
//
// The first `resident_layers` stay on the device with their states: neither their weights nor their
// gradients travel, and compute updates each right after its backward.
#include "sim/plan/schedules/streamed.h"

#include <algorithm>
#include <utility>

#include "sim/plan/schedules/schedules.h"

namespace sluice {
namespace {

class Streamed {
  public:
    Streamed(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          t_(training),
          layers_(model.layer_count()),
          resident_(static_cast<int>(training.resident_layers)),
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
        return {build_.finish(), std::move(buffers_)};
    }

  private:
    using Waits = std::vector<Dependency>;

    struct LayerState {
        OperationId weights_in_forward = -1, weights_in_backward = -1;
        OperationId last_forward = 0, last_backward = 0;
        OperationId gradients_out = -1, update = 0;
        std::vector<OperationId> checkpoint_out;  // one a micro-batch, host checkpoints only
    };

    bool updates_wait_for_norm() const { return t_.clipping == Clipping::exact; }
    LayerState& state(int layer) { return state_[static_cast<std::size_t>(layer)]; }
    bool resident(int layer) const { return layer < resident_; }
    double parameters(int layer) const { return parameters_of_layer(model_, layer); }
    BufferId input(int layer) const { return buffers_.inputs[static_cast<std::size_t>(layer)]; }
    BufferId held_gradients(int layer) const {
        const bool held = resident(layer) && updates_wait_for_norm();
        return held ? buffers_.resident_gradients[static_cast<std::size_t>(layer)] : kNoBuffer;
    }
    BufferId kept(int layer) const { return buffers_.kept[static_cast<std::size_t>(layer)]; }
    const StreamedKernels& kernels(int layer) const { return kernels_[kind_of(model_, layer)]; }

    OperationId weights_in(int layer, Waits waits) {
        return build_.add(OperationKind::copy_weights_in, layer, std::move(waits),
                          copy_operation(kBf16 * parameters(layer)));
    }

    void head_weights_in() {
        head_in_ = build_.add(
            OperationKind::copy_weights_in, layers_, {},
            copy_operation(table_bytes(model_) + hidden_bytes(model_), {buffers_.head_weights}));
    }

    /// Layer l always streams into slot l % depth, free again when layer l - depth has finished.
    void forward() {
        const int depth = static_cast<int>(t_.buffer_depth);
        // The rows of the embedding are ready last in the step before. One layer's weights go ahead
        // of them, no more: compute could not start before the last of these. Measured on an H200
        // (8 layers of 7B): a second layer ahead of the rows kept compute waiting 10.6 ms longer.
        if (resident_ < layers_) state(resident_).weights_in_forward = weights_in(resident_, {});
        embeddings_in_ =
            build_.add(OperationKind::copy_embeddings_in, kEmbeddingLayer, {},
                       copy_operation(input_bytes(model_, t_) + 4 * tokens(t_), {input(0)}));
        const int in_slots = std::min(resident_ + depth, layers_);
        for (int layer = resident_ + 1; layer < in_slots; ++layer)
            state(layer).weights_in_forward = weights_in(layer, {});
        if (in_slots == layers_) head_weights_in();
        for (int layer = 0; layer < layers_; ++layer) {
            for (std::int32_t j = 0; j < micro_; ++j) forward_micro_batch(layer, j);
            if (resident(layer)) continue;
            const int next = layer + depth;
            if (next < layers_)
                state(next).weights_in_forward = weights_in(next, {{state(layer).last_forward}});
            if (next == layers_ - 1) head_weights_in();
        }
    }

    void forward_micro_batch(int layer, std::int32_t j) {
        Waits waits = {{state(layer).weights_in_forward}};
        if (layer == 0) waits.push_back({embeddings_in_});
        // With two inputs in turn, this layer's output overwrites the input of the layer before.
        if (host_checkpoints(t_) && layer >= 2)
            waits.push_back({state(layer - 1).checkpoint_out[static_cast<std::size_t>(j)]});
        Operation op =
            gpu_operation({kernels(layer).forward},
                          {input(layer), buffers_.forward_workspace,
                           layer + 1 < layers_ ? input(layer + 1) : buffers_.hidden_gradient});
        op.micro_batch = j;
        op.uses.push_back(kept(layer));
        // The head's weights may arrive while the last layers in slots run.
        if (layer >= layers_ - static_cast<int>(t_.buffer_depth))
            op.uses.push_back(buffers_.head_weights);
        state(layer).last_forward =
            build_.add(OperationKind::forward, layer, std::move(waits), std::move(op));
        if (host_checkpoints(t_) && layer + 1 < layers_) checkpoint_out(layer + 1, j);
    }

    /// The input of `layer`, micro-batch `j`, leaves; layer 0's is the embedding rows, which the
    /// host has.
    void checkpoint_out(int layer, std::int32_t j) {
        Operation op =
            copy_operation(micro_batch_tokens(t_) * hidden_bytes(model_), {input(layer)});
        op.micro_batch = j;
        state(layer).checkpoint_out.push_back(build_.add(OperationKind::copy_checkpoint_out, layer,
                                                         {{state(layer - 1).last_forward}},
                                                         std::move(op)));
    }

    void loss() {
        OperationId last = 0;
        for (std::int32_t j = 0; j < micro_; ++j) {
            Waits waits = {{head_in_}};
            Operation op =
                gpu_operation(head_kernels_.loss, {buffers_.hidden_gradient, buffers_.head_weights,
                                                   buffers_.logits, buffers_.head_gradient});
            op.micro_batch = j;
            // The memory of the two inputs in turn is used again, so it waits for the last copies
            // out of them; copies leave in order.
            if (j == 0 && host_checkpoints(t_) && layers_ > 1) {
                waits.push_back({state_.back().checkpoint_out.back()});
                op.uses.insert(op.uses.end(), {input(0), input(1)});
            }
            if (j + 1 == micro_) op.kernels.push_back(head_kernels_.finish_gradients);
            last = build_.add(OperationKind::loss, layers_, std::move(waits), std::move(op));
        }
        const OperationId out = gradients_out(layers_, table_bytes(model_) + hidden_bytes(model_),
                                              last, {buffers_.head_weights});
        if (!model_.tied_embeddings && !updates_wait_for_norm())
            head_update_ = update(layers_, static_cast<double>(head_parameters(model_)), out);
    }

    /// From a slab that is always there, or from the buffers `from`.
    OperationId gradients_out(int layer, double bytes, OperationId after,
                              std::vector<BufferId> from = {}) {
        return build_.add(OperationKind::copy_gradients_out, layer, {{after}},
                          copy_operation(bytes, std::move(from)));
    }

    OperationId update(int layer, double params, OperationId after) {
        return build_.add(OperationKind::update, layer, {{after}},
                          host_operation(HostWork::adam, params * adam_traffic(t_.state_bytes)));
    }

    OperationId update_on_device(int layer, Waits waits) {
        return build_.add(OperationKind::update, Lane::compute, layer, std::move(waits),
                          gpu_operation({kernels(layer).update}, {held_gradients(layer)}));
    }

    void backward(int layer) {
        LayerState& s = state(layer);
        const int depth = static_cast<int>(t_.buffer_depth);
        const bool in_slot = layer >= layers_ - depth;
        if (!in_slot && !resident(layer))
            s.weights_in_backward = weights_in(layer, {{state(layer + depth).last_backward}});
        for (std::int32_t j = 0; j < micro_; ++j) backward_micro_batch(layer, j);
        if (resident(layer)) {
            if (!updates_wait_for_norm()) s.update = update_on_device(layer, {});
            return;
        }
        s.gradients_out = gradients_out(layer, kBf16 * parameters(layer), s.last_backward);
        if (updates_wait_for_norm()) return;
        const int slabs = static_cast<int>(host_gradient_slabs(t_));
        if (layer + slabs < layers_) build_.wait(s.gradients_out, {state(layer + slabs).update});
        s.update = update(layer, parameters(layer), s.gradients_out);
    }

    void backward_micro_batch(int layer, std::int32_t j) {
        LayerState& s = state(layer);
        Waits waits = {{s.weights_in_backward}};
        const int slabs = static_cast<int>(t_.gradient_slabs);
        if (j == 0 && layer + slabs < layers_)
            waits.push_back({state(layer + slabs).gradients_out});
        Operation op = gpu_operation(
            {keeps_everything(model_, t_, layer) ? kernels(layer).recompute_nothing
                                                 : kernels(layer).recompute,
             kernels(layer).backward},
            {buffers_.backward_workspace, buffers_.hidden_gradient, buffers_.head_weights});
        op.micro_batch = j;
        if (j + 1 == micro_) op.kernels.push_back(kernels(layer).finish_gradients);
        if (host_checkpoints(t_)) {
            waits.push_back({checkpoint_in(layer, j)});
        } else {
            op.uses.push_back(input(layer));
        }
        op.uses.push_back(kept(layer));
        op.uses.push_back(held_gradients(layer));
        s.last_backward =
            build_.add(OperationKind::backward, layer, std::move(waits), std::move(op));
        backwards_.push_back(s.last_backward);
    }

    /// Two places for checkpoints coming back: each waits until backward has used the one two
    /// before.
    OperationId checkpoint_in(int layer, std::int32_t j) {
        Waits waits;
        if (backwards_.size() >= 2) waits.push_back({backwards_[backwards_.size() - 2]});
        if (layer >= 1) waits.push_back({state(layer).checkpoint_out[static_cast<std::size_t>(j)]});
        Operation op = copy_operation(micro_batch_tokens(t_) * hidden_bytes(model_));
        op.micro_batch = j;
        return build_.add(OperationKind::copy_checkpoint_in, layer, std::move(waits),
                          std::move(op));
    }

    OperationId on_embedding(OperationKind kind, double bytes, Waits waits) {
        return build_.add(kind, kEmbeddingLayer, std::move(waits),
                          host_operation(HostWork::copy, bytes));
    }

    /// Gradients of the rows leave and are summed by row; rows of the next batch are updated first,
    /// then all others. Exact clipping updates everything from here on, in the order in which the
    /// next forward needs it.
    void embedding_tail() {
        const double row_bytes = input_bytes(model_, t_);
        const OperationId out = gradients_out(kEmbeddingLayer, row_bytes, state(0).last_backward,
                                              {buffers_.hidden_gradient});
        // Per element: read 2 B, add into 4 B: 10 B of traffic, 5 B at the rate of a copy.
        scatter_ = on_embedding(OperationKind::scatter_embeddings, 2.5 * row_bytes, {{out}});
        const auto all = static_cast<double>(embedding_parameters(model_));
        const double first = rows_updated_first(model_, t_) * static_cast<double>(model_.hidden);
        update(kEmbeddingLayer, first, out);
        gather_ = on_embedding(OperationKind::gather_embeddings, row_bytes, {});
        if (updates_wait_for_norm()) {
            for (int layer = 0; layer < resident_; ++layer)
                state(layer).update = update_on_device(layer, {{scatter_}});
            for (int layer = resident_; layer < layers_; ++layer)
                state(layer).update = update(layer, parameters(layer), out);
            if (!model_.tied_embeddings)
                head_update_ = update(layers_, static_cast<double>(head_parameters(model_)), out);
        }
        if (first < all) rest_update_ = update(kEmbeddingLayer, all - first, out);
    }

    void updates_before_next_forward() {
        for (int layer = resident_; layer < layers_; ++layer)
            build_.wait(state(layer).weights_in_forward, {state(layer).update, true});
        // Only now is the norm known, and with it whether this step stands.
        if (resident_ < layers_) build_.wait(state(resident_).weights_in_forward, {scatter_, true});
        build_.wait(embeddings_in_, {gather_, true});
        // The rows may come to the memory of gradients that were held for clipping.
        if (updates_wait_for_norm() && resident_ > 0)
            build_.wait(embeddings_in_, {state(resident_ - 1).update, true});
        const OperationId table_update = model_.tied_embeddings ? rest_update_ : head_update_;
        build_.wait(head_in_, {table_update >= 0 ? table_update : gather_, true});
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const int layers_;
    const int resident_;  ///< the first ones of them
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
