// Our schedule. Per step: forward over layers with weights arriving ahead in `buffer_depth` slots,
// only layer inputs kept; a chunked loss; backward from the last layer, weights arriving again
// unless still in a slot, one recompute of what backward reads; gradients leave layer by layer and
// the optimizer applies them while backward goes on.
//
// The token embedding never comes to the device: the host gathers the rows of the batch's tokens,
// which are layer 0's input, and scatters their gradients. Of its update only the rows that the
// next batch uses stand between two steps; the others are updated while the next forward runs (the
// update of every row is still exact).
//
//   host_to_device  rows | w0 w1 w2 ...            head |        w.. w1 w0
//   compute                   f0 f1 f2 ...               loss b.. b2 b1 b0 emb
//   device_to_host                                            gh  g.. g2 g1 g0 rows
//   optimizer                                                  uh  u.. u2 u1 u0 rows gather rest
#include <algorithm>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed_memory.h"

namespace sluice {
namespace {

/// DRAM traffic of AdamW on one parameter: bf16 gradient read; both 16-bit planes and both moments
/// read and written.
double adam_traffic_per_parameter(std::int64_t state_bytes) {
    return static_cast<double>(kBf16 + 2 * state_bytes);
}

class Streamed {
  public:
    Streamed(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          t_(training),
          layers_(model.layer_count()),
          micro_(training.micro_batches()),
          hidden_bytes_(static_cast<double>(model.hidden) * kBf16),
          build_(KernelStyle::fused) {}

    StepPlan plan() {
        prepare_kernels();
        buffers_ = declare_streamed_memory(model_, machine_, t_, build_);
        forward();
        loss();
        for (int layer = layers_ - 1; layer >= 0; --layer) backward(layer);
        embedding_tail();
        updates_before_next_forward();
        declare_streamed_host_moments(model_, build_);
        return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_)));
    }

  private:
    struct KindKernels {
        std::int32_t forward, recompute, backward, recompute_nothing;
    };
    struct LayerState {
        OperationId weights_in_forward = 0, weights_in_backward = -1;
        OperationId last_forward = 0, last_backward = 0;
        OperationId gradients_out = 0, update = 0;
        std::vector<OperationId> checkpoint_out;  // one a micro-batch, host checkpoints only
    };

    bool host_checkpoints() const { return t_.checkpoints == CheckpointPlacement::host; }
    bool updates_wait_for_norm() const { return t_.clipping == Clipping::exact; }
    double head_params() const { return static_cast<double>(head_parameters(model_)); }
    bool tied() const { return model_.tied_embeddings; }
    double tokens() const { return static_cast<double>(t_.tokens()); }
    double micro_tokens() const { return static_cast<double>(t_.micro_batch_block().tokens()); }
    LayerState& state(int layer) { return state_[static_cast<std::size_t>(layer)]; }
    double parameters(int layer) const {
        return static_cast<double>(kind_parameters_[static_cast<std::size_t>(
            model_.layers[static_cast<std::size_t>(layer)])]);
    }
    BufferId input(int layer) const { return buffers_.inputs[static_cast<std::size_t>(layer)]; }
    BufferId kept(int layer) const { return buffers_.kept[static_cast<std::size_t>(layer)]; }
    const KindKernels& kernels(int layer) const {
        return kind_kernels_[static_cast<std::size_t>(
            model_.layers[static_cast<std::size_t>(layer)])];
    }

    void prepare_kernels() {
        const TokenBlock block = t_.micro_batch_block();
        for (const LayerSpec& kind : model_.kinds) {
            KernelList back = backward_kernels(model_, kind, block, KernelStyle::fused);
            append_gradient_kernels(back, static_cast<double>(layer_parameters(model_, kind)));
            kind_kernels_.push_back(
                {build_.kernels(forward_kernels(model_, kind, block, KernelStyle::fused)),
                 build_.kernels(recompute_kernels(model_, kind, block, t_.recompute)),
                 build_.kernels(std::move(back)),
                 build_.kernels(recompute_kernels(model_, kind, block, Recompute::none))});
            kind_parameters_.push_back(layer_parameters(model_, kind));
        }
        loss_kernels_ =
            build_.kernels(loss_kernels(model_, block, t_.loss_chunk_tokens, KernelStyle::fused));
        state_.resize(static_cast<std::size_t>(layers_));
    }

    /// The norm reads the gradient once; sums in fp32 are read, written and rounded.
    void append_gradient_kernels(KernelList& list, double layer_params) const {
        if (t_.clipping != Clipping::off)
            list.push_back(memory_bound("gradient norm", kBf16 * layer_params));
        if (sums_gradients(t_))
            list.push_back(memory_bound("sum gradients", (2 * kFp32 + kBf16) * layer_params));
    }

    OperationId embeddings_in() {
        Operation op;
        op.kind = OperationKind::copy_embeddings_in;
        op.lane = Lane::host_to_device;
        op.layer = kEmbeddingLayer;
        op.link_bytes = tokens() * hidden_bytes_;
        op.uses = {input(0)};
        return build_.add(std::move(op));
    }

    OperationId weights_in(int layer, std::vector<Dependency> waits) {
        Operation op;
        op.kind = OperationKind::copy_weights_in;
        op.lane = Lane::host_to_device;
        op.layer = layer;
        op.link_bytes = kBf16 * parameters(layer);
        op.waits_for = std::move(waits);
        return build_.add(std::move(op));
    }

    void head_weights_in() {
        Operation op;
        op.kind = OperationKind::copy_weights_in;
        op.lane = Lane::host_to_device;
        op.layer = layers_;
        op.link_bytes = table_bytes(model_);
        op.uses = {buffers_.head_weights};
        head_in_ = build_.add(std::move(op));
    }

    /// Layer l always streams into slot l % depth, free again when layer l - depth has finished.
    void forward() {
        const int depth = static_cast<int>(t_.buffer_depth);
        for (int layer = 0; layer < std::min(depth, layers_); ++layer)
            state(layer).weights_in_forward = weights_in(layer, {});
        // The rows of the embedding are ready last in the step before: the weights that fit in
        // slots go first.
        embeddings_in_ = embeddings_in();
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
        Operation op;
        op.kind = OperationKind::forward;
        op.layer = layer;
        op.micro_batch = j;
        op.kernels = {kernels(layer).forward};
        op.waits_for = {{state(layer).weights_in_forward, false}};
        if (layer == 0) op.waits_for.push_back({embeddings_in_, false});
        // With two inputs in turn, this layer's output overwrites the input of the layer before.
        if (host_checkpoints() && layer >= 2)
            op.waits_for.push_back(
                {state(layer - 1).checkpoint_out[static_cast<std::size_t>(j)], false});
        op.uses = {input(layer), buffers_.forward_workspace,
                   layer + 1 < layers_ ? input(layer + 1) : buffers_.hidden_gradient};
        if (kept(layer) >= 0) op.uses.push_back(kept(layer));
        // The head's weights may arrive while the last layers in slots run.
        if (layer >= layers_ - static_cast<int>(t_.buffer_depth))
            op.uses.push_back(buffers_.head_weights);
        state(layer).last_forward = build_.add(std::move(op));
        if (host_checkpoints() && layer + 1 < layers_) checkpoint_out(layer + 1, j);
    }

    /// The input of `layer`, micro-batch `j`, leaves; layer 0's is the embedding rows, which the
    /// host has.
    void checkpoint_out(int layer, std::int32_t j) {
        Operation op;
        op.kind = OperationKind::copy_checkpoint_out;
        op.lane = Lane::device_to_host;
        op.layer = layer;
        op.micro_batch = j;
        op.link_bytes = micro_tokens() * hidden_bytes_;
        op.waits_for = {{state(layer - 1).last_forward, false}};
        op.uses = {input(layer)};
        state(layer).checkpoint_out.push_back(build_.add(std::move(op)));
    }

    void loss() {
        OperationId last = 0;
        for (std::int32_t j = 0; j < micro_; ++j) {
            Operation op;
            op.kind = OperationKind::loss;
            op.layer = layers_;
            op.micro_batch = j;
            op.kernels = {loss_kernels_};
            op.waits_for = {{head_in_, false}};
            op.uses = {buffers_.hidden_gradient, buffers_.head_weights, buffers_.logits,
                       buffers_.head_gradient};
            last = build_.add(std::move(op));
        }
        const OperationId out = gradients_out(layers_, table_bytes(model_) + hidden_bytes_, last);
        if (!tied() && !updates_wait_for_norm()) head_update_ = update(layers_, head_params(), out);
    }

    OperationId gradients_out(int layer, double bytes, OperationId after) {
        Operation op;
        op.kind = OperationKind::copy_gradients_out;
        op.lane = Lane::device_to_host;
        op.layer = layer;
        op.link_bytes = bytes;
        op.waits_for = {{after, false}};
        return build_.add(std::move(op));
    }

    OperationId update(int layer, double params, OperationId after) {
        Operation op;
        op.kind = OperationKind::update;
        op.lane = Lane::optimizer;
        op.layer = layer;
        op.host_work = HostWork::adam;
        op.host_bytes = params * adam_traffic_per_parameter(t_.state_bytes);
        op.waits_for = {{after, false}};
        return build_.add(std::move(op));
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
        Operation op;
        op.kind = OperationKind::backward;
        op.layer = layer;
        op.micro_batch = j;
        op.kernels = {keeps_everything(model_, t_, layer) ? kernels(layer).recompute_nothing
                                                          : kernels(layer).recompute,
                      kernels(layer).backward};
        if (s.weights_in_backward >= 0) op.waits_for.push_back({s.weights_in_backward, false});
        const int slabs = static_cast<int>(t_.gradient_slabs);
        if (j == 0 && layer + slabs < layers_)
            op.waits_for.push_back({state(layer + slabs).gradients_out, false});
        op.uses = {buffers_.backward_workspace, buffers_.hidden_gradient, buffers_.head_weights};
        if (host_checkpoints()) {
            op.waits_for.push_back({checkpoint_in(layer, j), false});
        } else {
            op.uses.push_back(input(layer));
        }
        if (kept(layer) >= 0) op.uses.push_back(kept(layer));
        s.last_backward = build_.add(std::move(op));
        backwards_.push_back(s.last_backward);
    }

    /// Two places for checkpoints coming back: each waits until backward has used the one two
    /// before.
    OperationId checkpoint_in(int layer, std::int32_t j) {
        Operation op;
        op.kind = OperationKind::copy_checkpoint_in;
        op.lane = Lane::host_to_device;
        op.layer = layer;
        op.micro_batch = j;
        op.link_bytes = micro_tokens() * hidden_bytes_;
        if (backwards_.size() >= 2)
            op.waits_for.push_back({backwards_[backwards_.size() - 2], false});
        if (layer >= 1)
            op.waits_for.push_back(
                {state(layer).checkpoint_out[static_cast<std::size_t>(j)], false});
        return build_.add(std::move(op));
    }

    OperationId host_operation(OperationKind kind, HostWork work, double bytes,
                               std::vector<Dependency> waits) {
        Operation op;
        op.kind = kind;
        op.lane = Lane::optimizer;
        op.layer = kEmbeddingLayer;
        op.host_work = work;
        op.host_bytes = bytes;
        op.waits_for = std::move(waits);
        return build_.add(std::move(op));
    }

    /// Gradients of the rows leave and are summed by row; rows of the next batch are updated first,
    /// then all others. Exact clipping updates everything from here on, in the order in which the
    /// next forward needs it.
    void embedding_tail() {
        const double row_bytes = tokens() * hidden_bytes_;
        const OperationId out = gradients_out(kEmbeddingLayer, row_bytes, state(0).last_backward);
        // Per element: read 2 B, add into 4 B: 10 B of traffic, 5 B of payload at the rate of a
        // copy.
        host_operation(OperationKind::scatter_embeddings, HostWork::copy, 2.5 * row_bytes,
                       {{out, false}});
        const double first = embedding_rows_in_use(model_, t_) * static_cast<double>(model_.hidden);
        update(kEmbeddingLayer, first, out);
        gather_ = host_operation(OperationKind::gather_embeddings, HostWork::copy, row_bytes, {});
        if (updates_wait_for_norm()) {
            for (int layer = 0; layer < layers_; ++layer)
                state(layer).update = update(layer, parameters(layer), out);
            if (!tied()) head_update_ = update(layers_, head_params(), out);
        }
        const double rest = static_cast<double>(embedding_parameters(model_)) - first;
        if (rest > 0) rest_update_ = update(kEmbeddingLayer, rest, out);
    }

    void updates_before_next_forward() {
        for (int layer = 0; layer < layers_; ++layer)
            build_.wait(state(layer).weights_in_forward, {state(layer).update, true});
        build_.wait(embeddings_in_, {gather_, true});
        const OperationId table_update = tied() ? rest_update_ : head_update_;
        build_.wait(head_in_, {table_update >= 0 ? table_update : gather_, true});
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const int layers_;
    const std::int64_t micro_;
    const double hidden_bytes_;
    PlanBuilder build_;

    std::vector<KindKernels> kind_kernels_;
    std::vector<std::int64_t> kind_parameters_;
    std::int32_t loss_kernels_ = 0;
    std::vector<LayerState> state_;
    std::vector<OperationId> backwards_;
    StreamedBuffers buffers_;
    OperationId embeddings_in_ = 0, head_in_ = 0, head_update_ = -1, rest_update_ = -1, gather_ = 0;
};

}  // namespace

StepPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training) {
    return Streamed(model, machine, training).plan();
}

}  // namespace sluice
