// Everything in device memory, as a plain PyTorch loop trains a model that fits (from reading
// torch 2.11.0: torch/optim/adamw.py, torch/nn/utils/clip_grad.py, torch/utils/checkpoint.py).
// Parameters, gradients and moments are in bf16, 8 bytes a parameter. One step: forward, loss,
// backward; clip_grad_norm_ (one pass for the norm, one to scale); AdamW(fused=True); gradients are
// freed (zero_grad sets them to none).
#include "sim/plan/schedules/plain_model.h"
#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/pytorch_optimizer.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/shapes.h"

namespace sluice {
namespace {

// Bytes a parameter: gradient read, then read and written; parameter and both moments read and
// written, gradient read.
constexpr double kClipTraffic = 3 * kBf16, kAdamTraffic = 7 * kBf16;

class Resident {
  public:
    Resident(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          layers_(model.layer_count()),
          build_(KernelStyle::plain),
          network_(model, training, build_) {}

    StepPlan plan() {
        declare_memory();
        for (int layer = 0; layer < layers_; ++layer)
            add(OperationKind::forward, layer, network_.forward(layer));
        add(OperationKind::loss, layers_, network_.loss());
        add(OperationKind::backward, layers_, network_.loss_backward());
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            Operation work = network_.backward(layer);
            work.uses.push_back(head_gradient_);
            add_with(OperationKind::backward, layer, std::move(work),
                     layer_gradients_[static_cast<std::size_t>(layer)]);
        }
        add_with(OperationKind::embedding_backward, kEmbeddingLayer, network_.embedding_backward(),
                 embedding_gradient_);
        optimize();
        declare_host_moments();
        build_.assume(kMultiTensorAssumption);
        return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_),
                                                         {OptimizerPlacement::resident, true}));
    }

  private:
    using Kind = MemoryKind;

    void add(OperationKind kind, int layer, Operation work) {
        build_.add(kind, Lane::compute, layer, {}, std::move(work));
    }
    void add_with(OperationKind kind, int layer, Operation work, BufferId gradient) {
        work.uses.push_back(gradient);
        add(kind, layer, std::move(work));
    }

    void declare_memory() {
        const double all = all_parameters(model_);
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all);
        build_.on_device("bf16 moments", Kind::optimizer_state, 2 * kBf16 * all);
        const auto gradient = [&](double bytes) {
            return build_.device_buffer("bf16 gradient", Kind::gradients, bytes);
        };
        head_gradient_ =
            gradient(head_bytes(model_) + (model_.tied_embeddings ? table_bytes(model_) : 0));
        for (int layer = 0; layer < layers_; ++layer)
            layer_gradients_.push_back(gradient(kBf16 * parameters_of_layer(model_, layer)));
        embedding_gradient_ = gradient(embedding_bytes(model_));
        build_.on_host("process", Kind::process, static_cast<double>(machine_.host.process_base));
        build_.on_host("Python modules", Kind::process, kPyTorchModules);
    }

    /// A tied table has one gradient: the embedding's is added to the head's and freed.
    std::vector<BufferId> gradients() const {
        std::vector<BufferId> all = layer_gradients_;
        all.push_back(head_gradient_);
        if (!model_.tied_embeddings) all.push_back(embedding_gradient_);
        return all;
    }

    /// The optimizer goes through the tensors in Python: at least one host operation for each.
    std::int64_t tensors() const {
        auto count = static_cast<std::int64_t>(root_tensors(model_).size());
        for (const int kind : model_.layers) {
            count += static_cast<std::int64_t>(
                module_tensors(model_, model_.kinds[static_cast<std::size_t>(kind)]).size());
        }
        return count;
    }

    void optimize() {
        const double all = all_parameters(model_);
        const auto kernel = [&](const char* name, double traffic) {
            const double as_copied = traffic / kMultiTensorShare * all;
            return gpu_operation({build_.kernels({memory_bound(name, as_copied, tensors())})},
                                 gradients());
        };
        add(OperationKind::clip_gradients, kEmbeddingLayer, kernel("norm and scale", kClipTraffic));
        add(OperationKind::update, kEmbeddingLayer, kernel("AdamW", kAdamTraffic));
    }

    void declare_host_moments() {
        const Bytes process = build_.host_peak();
        build_.moment("loading", process, "the file's pages besides, if they are not dropped");
        build_.moment("first step", process, "");
        build_.moment("steady", process, "");
        build_.moment("saving", process, "tensors are copied to the host one at a time");
        build_.resident_between_steps(process);
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const int layers_;
    PlanBuilder build_;
    PlainModel network_;
    BufferId head_gradient_ = 0, embedding_gradient_ = 0;
    std::vector<BufferId> layer_gradients_;
};

}  // namespace

StepPlan plan_resident(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training) {
    return Resident(model, machine, training).plan();
}

}  // namespace sluice
