// PyTorch FSDP2 on many GPUs, from reading torch (torch/distributed/fsdp/_fully_shard,
// _fsdp_param_group.py at commit 002a76f and _fsdp_collectives.py at 010ae4a): fully_shard on each
// layer and on the model, over all GPUs; fp32 parameters, param_dtype bf16, reduce_dtype fp32,
// reshard_after_forward. One step, for each micro-batch:
//
// Forward: a layer's shards are cast to bf16 and gathered, then copied from the gathered buffer
// into the layer's parameters on the stream that computes. Gathers are on a stream of their own:
// the next layer's runs beside this one's work, and waits only until the layer before has been
// copied out. So two gathered buffers and one layer's parameters are alive. Embedding, final norm
// and head are the model's own group: gathered first, kept until backward ends.
//
// Backward: the layer before is gathered while this one is worked on. A layer's bf16 gradients are
// joined in one fp32 buffer, once the buffer of the layer after it has been reduced, and
// reduce-scattered beside the work on the layer before. Each GPU adds its part to its fp32 shard,
// in each micro-batch. Collectives run one at a time, in the order of their calls (one
// communicator).
//
// Optimizer, on the shards: clip_grad_norm_ (an all-reduce of one number), AdamW(fused=True).
#include <algorithm>
#include <cmath>

#include "sim/plan/schedules/cluster.h"

namespace sluice {
namespace {

// HBM bytes. A shard's parameter: fp32 read, bf16 written. A gathered one: read, written.
// A gradient: bf16 read, fp32 written. A shard's gradient: fp32 read, for its norm; read and
// written, to scale it; and AdamW's parameter and moments read and written, gradient read.
constexpr double kCastTraffic = kFp32 + kBf16, kCopyOutTraffic = 2 * kBf16;
constexpr double kJoinTraffic = kBf16 + kFp32;
constexpr double kShardNormTraffic = kFp32, kShardUpdateTraffic = 2 * kFp32 + 7 * kFp32;
// Cast, gather, copy out; join, reduce, divide.
constexpr std::int64_t kGatherLaunches = 3, kJoinLaunches = 3;

class Sharded : public ClusterStep {
  public:
    Sharded(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : ClusterStep(model, machine, training) {}

  private:
    void declare() override {
        ClusterStep::declare();
        declare_groups();
        declare_memory();
    }

    /// Parameters that are gathered and reduced together.
    struct Group {
        double parameters = 0;
        std::int32_t copy_out = 0, join = 0;
    };

    Group group(double parameters) {
        Group out;
        out.parameters = parameters;
        out.copy_out = build_.kernels({memory_bound(
            "copy of gathered weights",
            kCastTraffic * part(parameters) + kCopyOutTraffic * parameters, kGatherLaunches)});
        out.join = build_.kernels(
            {memory_bound("join of gradients", kJoinTraffic * parameters, kJoinLaunches)});
        return out;
    }
    void declare_groups() {
        root_ = group(static_cast<double>(embedding_parameters(model_) + head_parameters(model_)));
        for (const LayerSpec& kind : model_.kinds)
            kinds_.push_back(group(static_cast<double>(layer_parameters(model_, kind))));
    }
    const Group& of_layer(int layer) const {
        if (layer == kEmbeddingLayer) return root_;
        return kinds_[kind_of(model_, layer)];
    }
    /// What one GPU has of all.
    double part(double all) const { return std::ceil(all / static_cast<double>(group_.gpus)); }

    void declare_memory() {
        const double shard = part(all_parameters(model_));
        build_.on_device("fp32 parameters", Kind::weights, kFp32 * shard);
        build_.on_device("fp32 moments", Kind::optimizer_state, 2 * kFp32 * shard);
        const auto gradient = [&](double parameters) {
            return build_.device_buffer("fp32 gradient", Kind::gradients, kFp32 * part(parameters));
        };
        for (int layer = 0; layer < layers_; ++layer)
            shard_gradients_.push_back(gradient(of_layer(layer).parameters));
        shard_gradients_.push_back(gradient(root_.parameters));
    }
    BufferId shard_gradient(int layer) const {
        return shard_gradients_[static_cast<std::size_t>(layer == kEmbeddingLayer ? layers_
                                                                                  : layer)];
    }

    BufferId weights(const char* name, const Group& of) {
        return build_.device_buffer(name, Kind::weights, kBf16 * of.parameters);
    }

    /// A gather that waits for compute operation `after`, if there is one.
    void gather(int layer, OperationId after) {
        gathered_ = weights("gathered weights", of_layer(layer));
        std::vector<Dependency> waits;
        if (after >= 0) waits.push_back({after});
        gather_ = build_.add(
            OperationKind::all_gather, Lane::interconnect, layer, std::move(waits),
            collective_operation(Collective::all_gather, kBf16 * of_layer(layer).parameters,
                                 group_.gpus, {gathered_}));
        if (first_gather_ < 0) first_gather_ = gather_;
    }
    /// A layer's work on gathered weights that are copied out first.
    Operation with_weights(int layer, Operation work, BufferId gathered) {
        work.kernels.insert(work.kernels.begin(), of_layer(layer).copy_out);
        work.uses.push_back(gathered);
        work.uses.push_back(weights("a layer's weights", of_layer(layer)));
        work.uses.push_back(root_weights_);
        return work;
    }
    OperationId compute_after(OperationId wait, OperationKind kind, int layer, Operation work) {
        return build_.add(kind, Lane::compute, layer, {{wait}}, std::move(work));
    }

    void forward() override {
        root_weights_ = weights("embedding and head", root_);
        gather(kEmbeddingLayer, updated_or_reduced());
        last_ = compute_after(gather_, OperationKind::unflatten, kEmbeddingLayer,
                              gpu_operation({root_.copy_out}, {gathered_, root_weights_}));
        OperationId before = -1;
        gather(0, before);
        for (int layer = 0; layer < layers_; ++layer) {
            const OperationId own = gather_;
            const BufferId gathered = gathered_;
            if (layer + 1 < layers_) gather(layer + 1, before);
            before = last_;
            last_ = compute_after(own, OperationKind::forward, layer,
                                  with_weights(layer, network_.forward(layer), gathered));
        }
        Operation loss = network_.loss();
        loss.uses.push_back(root_weights_);
        last_ = build_.add(OperationKind::loss, Lane::compute, layers_, {}, std::move(loss));
    }
    /// In later micro-batches the model's own weights are gathered when its gradients have left.
    OperationId updated_or_reduced() const { return is_first() ? -1 : reduced_; }

    void backward() override {
        const double head =
            head_bytes(model_) + (model_.tied_embeddings ? embedding_bytes(model_) : 0);
        const BufferId head_gradient =
            build_.device_buffer("head's gradient", Kind::gradients, head);
        reduced_ = -1;
        gather(layers_ - 1, last_);
        Operation loss = network_.loss_backward();
        loss.uses.push_back(root_weights_);  // its own gradient it holds itself
        OperationId before = last_;
        last_ = build_.add(OperationKind::backward, Lane::compute, layers_, {}, std::move(loss));
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            const OperationId own = gather_;
            const BufferId gathered = gathered_;
            if (layer > 0) gather(layer - 1, before);
            Operation work = with_weights(layer, network_.backward(layer), gathered);
            work.uses.push_back(head_gradient);
            if (reducing_ != kNoBuffer && reduced_ >= 0) work.uses.push_back(reducing_);
            const BufferId gradients = build_.device_buffer("a layer's gradients", Kind::gradients,
                                                            kBf16 * of_layer(layer).parameters);
            work.uses.push_back(gradients);
            before = compute_after(own, OperationKind::backward, layer, std::move(work));
            reduce(layer, {gradients, head_gradient});
        }
        const BufferId gradients =
            build_.device_buffer("embedding's gradient", Kind::gradients, embedding_bytes(model_));
        Operation work = network_.embedding_backward();
        work.uses.insert(work.uses.end(), {root_weights_, head_gradient, gradients, reducing_});
        last_ = build_.add(OperationKind::embedding_backward, Lane::compute, kEmbeddingLayer, {},
                           std::move(work));
        reduce(kEmbeddingLayer, {head_gradient, gradients});
    }

    /// Gradients are joined when those of the layer after have been reduced; then reduced.
    void reduce(int layer, std::vector<BufferId> gradients) {
        const Group& of = of_layer(layer);
        reducing_ =
            build_.device_buffer("gradients to reduce", Kind::gradients, kFp32 * of.parameters);
        std::vector<Dependency> waits;
        if (reduced_ >= 0) waits.push_back({reduced_});
        gradients.push_back(reducing_);
        last_ = build_.add(OperationKind::join_gradients, Lane::compute, layer, std::move(waits),
                           gpu_operation({of.join}, std::move(gradients)));
        reduced_ =
            build_.add(OperationKind::reduce_scatter, Lane::interconnect, layer, {{last_}},
                       collective_operation(Collective::reduce_scatter, kFp32 * of.parameters,
                                            group_.gpus, {reducing_, shard_gradient(layer)}));
    }

    void optimize() override {
        const double shard = part(all_parameters(model_));
        const std::int64_t tensors = parameter_tensors(model_);
        const OperationId norm = compute_after(
            reduced_, OperationKind::clip_gradients, kEmbeddingLayer,
            gpu_operation(
                {build_.kernels({memory_bound(
                    "norm", kShardNormTraffic / kMultiTensorShareFp32 * shard, tensors)})},
                shard_gradients_));
        const OperationId summed =
            build_.add(OperationKind::all_reduce, Lane::interconnect, kEmbeddingLayer, {{norm}},
                       collective_operation(Collective::all_reduce, kFp32, group_.gpus));
        const OperationId updated = compute_after(
            summed, OperationKind::update, kEmbeddingLayer,
            gpu_operation({build_.kernels({memory_bound(
                              "scale and AdamW",
                              kShardUpdateTraffic / kMultiTensorShareFp32 * shard, tensors)})},
                          shard_gradients_));
        build_.wait(first_gather_, {updated, true});
    }

    Group root_;
    std::vector<Group> kinds_;
    std::vector<BufferId> shard_gradients_;  ///< of each layer, then of the model's own group
    BufferId root_weights_ = kNoBuffer, gathered_ = kNoBuffer, reducing_ = kNoBuffer;
    OperationId first_gather_ = -1, gather_ = -1;
};

}  // namespace

StepPlan plan_sharded(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training) {
    return Sharded(model, machine, training).plan();
}

}  // namespace sluice
