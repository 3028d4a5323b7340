// Data-parallel training with a whole model on every GPU, in the mixed precision of Megatron-LM's
// DistributedDataParallel (megatron/core/distributed and its guide to the distributed optimizer: 18
// bytes a parameter): bf16 parameters, fp32 gradients that all micro-batches add to, fp32 masters
// and moments. One step: forward and backward of each micro-batch; in the last one's backward a
// layer's gradients are all-reduced while the layer before is worked on; then, when all have
// arrived, the norm, AdamW on the masters, and bf16 parameters from them. With --sharding states
// (ZeRO-1, Megatron's distributed optimizer: 6 bytes a parameter and 12 over the number of GPUs)
// gradients are reduce-scattered instead, each GPU updates its part, and a layer's parameters are
// gathered while the layers before it are in the next step's forward.
#include <cmath>

#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/pytorch_optimizer.h"
#include "sim/plan/schedules/shapes.h"

namespace sluice {
namespace {

// HBM bytes a parameter. A gradient is added to its fp32 sum: bf16 read, fp32 read and written.
// Update: gradient read for the norm; master and both moments read and written, gradient read and
// zeroed, bf16 written.
constexpr double kAddTraffic = kBf16 + 2 * kFp32;
constexpr double kNormTraffic = kFp32, kUpdateTraffic = 7 * kFp32 + kBf16, kZeroTraffic = kFp32;

class Replicated : public ClusterStep {
  public:
    Replicated(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : ClusterStep(model, machine, training),
          shards_states_(training.sharding == Sharding::states) {}

  private:
    void declare() override {
        declare_kernels();
        declare_memory();
    }

    double root_parameters() const {
        return static_cast<double>(embedding_parameters(model_) + head_parameters(model_));
    }
    double parameters(int layer) const {
        return layer == kEmbeddingLayer ? root_parameters() : parameters_of_layer(model_, layer);
    }
    /// The part of the states that one GPU has.
    double part(double all) const {
        return shards_states_ ? std::ceil(all / static_cast<double>(group_.gpus)) : all;
    }

    std::int32_t add_kernel(double parameters, std::size_t tensors) {
        return build_.kernels({memory_bound("sum of gradients", kAddTraffic * parameters,
                                            static_cast<std::int64_t>(tensors))});
    }
    void declare_kernels() {
        for (const LayerSpec& kind : model_.kinds)
            adds_.push_back(add_kernel(static_cast<double>(layer_parameters(model_, kind)),
                                       module_tensors(model_, kind).size()));
        add_root_ = add_kernel(root_parameters(), root_tensors(model_).size());
    }
    std::int32_t add_of(int layer) const {
        if (layer == kEmbeddingLayer) return add_root_;
        return adds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(layer)])];
    }

    void declare_memory() {
        const double all = all_parameters(model_);
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all);
        build_.on_device("fp32 gradients", Kind::gradients, kFp32 * all);
        build_.on_device("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * part(all));
    }

    void compute(OperationKind kind, int layer, Operation work) {
        last_ = build_.add(kind, Lane::compute, layer, {}, std::move(work));
    }

    /// What the step before has updated, in the order in which forward needs it.
    void gather_updated() {
        for (int layer = kEmbeddingLayer; layer < layers_; ++layer)
            gathers_.push_back(
                build_.add(OperationKind::all_gather, Lane::interconnect, layer, {},
                           collective_operation(Collective::all_gather, kBf16 * parameters(layer),
                                                group_.gpus)));
    }

    void forward() override {
        if (shards_states_ && is_first()) gather_updated();
        for (int layer = 0; layer < layers_; ++layer) {
            compute(OperationKind::forward, layer, network_.forward(layer));
            if (!shards_states_ || !is_first()) continue;
            const auto index = static_cast<std::size_t>(layer);
            for (const std::size_t gather : {index, index + 1})
                build_.wait(last_, {gathers_[gather], false});
        }
        compute(OperationKind::loss, layers_, network_.loss());
    }

    void backward() override {
        // A tied table's gradient is added to the sum when the embedding's has been added to it.
        std::vector<BufferId> held;
        if (model_.tied_embeddings)
            held = {build_.device_buffer("tied table's gradient", Kind::gradients,
                                         table_bytes(model_))};
        compute(OperationKind::backward, layers_, network_.loss_backward());
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            Operation work = network_.backward(layer);
            work.uses.insert(work.uses.end(), held.begin(), held.end());
            work.kernels.push_back(add_of(layer));
            work.uses.push_back(build_.device_buffer("a layer's gradients", Kind::gradients,
                                                     kBf16 * parameters(layer)));
            compute(OperationKind::backward, layer, std::move(work));
            reduce(layer);
        }
        Operation work = network_.embedding_backward();
        work.uses.insert(work.uses.end(), held.begin(), held.end());
        work.kernels.push_back(add_root_);
        work.uses.push_back(
            build_.device_buffer("embedding's gradient", Kind::gradients, embedding_bytes(model_)));
        compute(OperationKind::embedding_backward, kEmbeddingLayer, std::move(work));
        reduce(kEmbeddingLayer);
    }

    void reduce(int layer) {
        if (!is_last()) return;
        const Collective collective =
            shards_states_ ? Collective::reduce_scatter : Collective::all_reduce;
        reduced_ =
            build_.add(shards_states_ ? OperationKind::reduce_scatter : OperationKind::all_reduce,
                       Lane::interconnect, layer, {{last_, false}},
                       collective_operation(collective, kFp32 * parameters(layer), group_.gpus));
    }

    void optimize() override {
        const double all = all_parameters(model_);
        const std::int64_t tensors = parameter_tensors(model_);
        const auto kernel = [&](const char* name, double traffic) {
            return gpu_operation(
                {build_.kernels({memory_bound(name, traffic / kMultiTensorShareFp32, tensors)})});
        };
        last_ = build_.add(OperationKind::clip_gradients, Lane::compute, kEmbeddingLayer,
                           {{reduced_, false}}, kernel("norm", kNormTraffic * part(all)));
        std::vector<Dependency> waits;
        if (shards_states_)
            waits.push_back(
                {build_.add(OperationKind::all_reduce, Lane::interconnect, kEmbeddingLayer,
                            {{last_, false}},
                            collective_operation(Collective::all_reduce, kFp32, group_.gpus)),
                 false});
        const OperationId updated =
            build_.add(OperationKind::update, Lane::compute, kEmbeddingLayer, std::move(waits),
                       kernel("AdamW", kUpdateTraffic * part(all) + kZeroTraffic * all));
        if (shards_states_) build_.wait(gathers_.front(), {updated, true});
    }

    const bool shards_states_;
    std::vector<std::int32_t> adds_;  ///< of each kind of layer
    std::int32_t add_root_ = 0;
    std::vector<OperationId> gathers_;  ///< of the model's own parameters, then of each layer's
};

}  // namespace

StepPlan plan_replicated(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training) {
    return Replicated(model, machine, training).plan();
}

}  // namespace sluice
