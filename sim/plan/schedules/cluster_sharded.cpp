// PyTorch FSDP2 on many GPUs, from reading torch (torch/distributed/fsdp/_fully_shard,
// _fsdp_param_group.py at commit 002a76f and _fsdp_collectives.py at 010ae4a): fully_shard on each
// layer and on the model, over all GPUs; fp32 parameters, param_dtype bf16, reduce_dtype fp32,
// reshard_after_forward. Beside adapters, frozen parameters are bf16, as they were loaded: what
// never changes needs no master. One step, for each micro-batch:
//
// Forward: a layer's shards are cast to bf16 and gathered, then copied from the gathered buffer
// into the layer's parameters on the stream that computes. Gathers have their own stream: the next
// layer's gather runs during this layer's work, and waits only until the previous layer has been
// copied out. So two gathered buffers and one layer's parameters are alive. Embedding, final norm
// and head are the model's own group: gathered first, kept until backward ends.
//
// Backward: the previous layer is gathered during this layer's work. A layer's bf16 gradients are
// joined in one fp32 buffer after the next layer's buffer has been reduced. They are
// reduce-scattered during the previous layer's work. Each GPU adds its part to its fp32 shard, in
// each micro-batch. Collectives run one at a time, in the order of their calls (one communicator).
//
// Optimizer, on the shards: clip_grad_norm_ (an all-reduce of one number), AdamW(fused=True), or
// PyTorch's default, which keeps a list of temporaries of the parameters' size (--adam foreach).
#include <algorithm>
#include <cmath>

#include "sim/plan/schedules/cluster.h"

namespace sluice {
namespace {

// Device memory traffic in bytes. A shard's parameter: fp32 read, bf16 written; a frozen one is
// copied. A gathered one: read, written. A gradient: bf16 read, fp32 written. A shard's gradient:
// fp32 read for its norm, read and written to scale it; AdamW reads and writes parameter and
// moments, and reads the gradient.
constexpr double kCastTraffic = kFp32 + kBf16, kFrozenTraffic = 2 * kBf16,
                 kCopyOutTraffic = 2 * kBf16;
constexpr double kJoinTraffic = kBf16 + kFp32;
constexpr double kShardNormTraffic = kFp32, kShardScaleTraffic = 2 * kFp32,
                 kShardUpdateTraffic = 7 * kFp32;
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
        double parameters = 0, trained = 0;
        std::int32_t copy_out = 0, join = 0;
    };

    Group group(const Parameters& elements) {
        Group out{elements.all, elements.trained};
        out.copy_out = build_.kernels({memory_bound("copy of gathered weights",
                                                    kCastTraffic * part(elements.trained) +
                                                        kFrozenTraffic * part(elements.frozen()) +
                                                        kCopyOutTraffic * out.parameters,
                                                    kGatherLaunches)});
        out.join = build_.kernels(
            {memory_bound("join of gradients", kJoinTraffic * out.trained, kJoinLaunches)});
        return out;
    }
    void declare_groups() {
        root_ = group(elements(kEmbeddingLayer));
        kinds_.resize(model_.kinds.size());
        for (int layer = 0; layer < layers_; ++layer)
            if (Group& own = kinds_[kind_of(model_, layer)]; own.parameters == 0)
                own = group(elements(layer));
    }
    const Group& of_layer(int layer) const {
        return layer == kEmbeddingLayer ? root_ : kinds_[kind_of(model_, layer)];
    }
    /// One GPU's share of `all`.
    double part(double all) const { return std::ceil(all / static_cast<double>(group_.gpus)); }

    void declare_memory() {
        const Parameters all = all_elements();
        const double trained = all.trained;
        build_.on_device("fp32 parameters", Kind::weights, kFp32 * part(trained));
        build_.on_device("bf16 frozen parameters", Kind::weights, kBf16 * part(all.frozen()));
        build_.on_device("fp32 moments", Kind::optimizer_state, 2 * kFp32 * part(trained));
        const auto gradient = [&](double parameters) {
            return build_.device_buffer("fp32 gradient", Kind::gradients, kFp32 * part(parameters));
        };
        for (int layer = 0; layer < layers_; ++layer)
            shard_gradients_.push_back(gradient(of_layer(layer).trained));
        shard_gradients_.push_back(gradient(root_.trained));
    }
    BufferUse shard_gradient(int layer) const {
        return shard_gradients_[static_cast<std::size_t>(layer == kEmbeddingLayer ? layers_
                                                                                  : layer)];
    }

    BufferId weights(const char* name, const Group& of) {
        return build_.device_buffer(name, Kind::weights, kBf16 * of.parameters);
    }

    /// A gather that waits for compute operation `after`, if there is one.
    void gather(int layer, OperationId after) {
        gathered_ = weights("gathered weights", of_layer(layer));
        gather_ = build_.add(
            OperationKind::all_gather, layer, {{after}},
            collective_operation(Collective::all_gather, kBf16 * of_layer(layer).parameters,
                                 group_.gpus, {gathered_}));
        if (first_gather_ < 0) first_gather_ = gather_;
    }

    /// The model's own weights; in later micro-batches, after their gradients have left.
    void begin_pass() override {
        root_weights_ = weights("embedding and head", root_);
        gather(kEmbeddingLayer, is_first() ? -1 : reduced_);
        last_ = build_.add(OperationKind::unflatten, kEmbeddingLayer, {{gather_}},
                           gpu_operation({root_.copy_out}, {gathered_, root_weights_}));
        before_ = -1;
        gather(0, before_);
    }
    void begin_backward() {
        head_gradient_ =
            build_.device_buffer("head's gradient", Kind::gradients, head_gradient_bytes());
        reduced_ = -1;
        gather(layers_ - 1, last_);
    }

    void module(OperationKind kind, int layer, Operation work) override {
        if (kind == OperationKind::backward && layer == layers_) begin_backward();
        work.uses.push_back(root_weights_);
        OperationId own = -1;
        if (is_layer(layer)) {  // its gathered weights are copied out first
            own = gather_;
            work.kernels.push_front(of_layer(layer).copy_out);
            work = also_using(std::move(work),
                              {gathered_, weights("a layer's weights", of_layer(layer))});
            const int next = kind == OperationKind::forward ? layer + 1 : layer - 1;
            if (is_layer(next)) gather(next, before_);
        }
        if (kind == OperationKind::forward || layer == layers_) {  // the head holds its gradient
            before_ = last_;
            last_ = build_.add(kind, layer, {{own}}, std::move(work));
            return;
        }
        const BufferId gradients = module_gradients(layer);
        before_ = build_.add(kind, layer, {{own}},
                             also_using(std::move(work), {head_gradient_, gradients,
                                                          reduced_ >= 0 ? reducing_ : kNoBuffer}));
        reduce(layer, {head_gradient_, gradients});
    }

    /// Gradients are joined after those of the next layer have been reduced; then they are reduced.
    void reduce(int layer, BufferUses gradients) {
        const Group& of = of_layer(layer);
        reducing_ =
            build_.device_buffer("gradients to reduce", Kind::gradients, kFp32 * of.trained);
        gradients.push_back(reducing_);
        last_ = build_.add(OperationKind::join_gradients, layer, {{reduced_}},
                           gpu_operation({of.join}, std::move(gradients)));
        reduced_ =
            build_.add(OperationKind::reduce_scatter, layer, {{last_}},
                       collective_operation(Collective::reduce_scatter, kFp32 * of.trained,
                                            group_.gpus, {reducing_, shard_gradient(layer)}));
    }

    void optimize() override {
        const double shard = part(all_elements().trained);
        const auto kernel = [&](const char* name, double traffic) {
            return gpu_operation(
                {build_.kernels({memory_bound(name, traffic / kMultiTensorShareFp32 * shard,
                                              trained_tensors())})},
                shard_gradients_);
        };
        const OperationId norm =
            build_.add(OperationKind::clip_gradients, Work::compute, kEmbeddingLayer, {{reduced_}},
                       kernel("norm", kShardNormTraffic));
        const OperationId summed =
            build_.add(OperationKind::all_reduce, kEmbeddingLayer, {{norm}},
                       collective_operation(Collective::all_reduce, kFp32, group_.gpus));
        const bool foreach = training_.adam == AdamKernel::foreach;
        Operation update = kernel(
            "scale and AdamW",
            kShardScaleTraffic + (foreach ? kForeachAdamPasses * kFp32 : kShardUpdateTraffic));
        if (foreach)
            update.uses.push_back(
                build_.device_buffer("temporaries of Adam", Kind::optimizer_state, kFp32 * shard));
        const OperationId updated = build_.add(OperationKind::update, Work::compute,
                                               kEmbeddingLayer, {{summed}}, std::move(update));
        build_.wait(first_gather_, {updated, true});
    }

    Group root_;
    std::vector<Group> kinds_;
    BufferUses shard_gradients_;  ///< of each layer, then of the model's own group
    BufferId root_weights_ = kNoBuffer, gathered_ = kNoBuffer;
    BufferId head_gradient_ = kNoBuffer, reducing_ = kNoBuffer;
    OperationId first_gather_ = -1, gather_ = -1;
    OperationId before_ = -1;  ///< work whose end frees a gathered buffer
};

}  // namespace

StepPlan plan_sharded(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training) {
    return Sharded(model, machine, training).plan();
}

}  // namespace sluice
