// Everything in device memory, as a plain PyTorch loop trains a model that fits (from reading
// torch 2.11.0: torch/optim/adamw.py, torch/nn/utils/clip_grad.py, torch/utils/checkpoint.py).
// Parameters, gradients and moments are in bf16, 8 bytes a parameter. One step: forward, loss and
// backward of each micro-batch (the first one's gradients are kept, autograd adds the others' to
// them: torch/csrc/autograd/functions/accumulate_grad.h); clip_grad_norm_ (one pass for the norm,
// one to scale); AdamW(fused=True); gradients are freed (zero_grad sets them to none).
#include <map>

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
// Bytes a byte of gradient that is added: read, and what it is added to read and written.
constexpr double kAddTraffic = 3;

class Resident {
  public:
    Resident(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          micro_batches_(training.micro_batches()),
          pass_(training_of_pass(training)),
          layers_(model.layer_count()),
          build_(KernelStyle::plain),
          network_(model, pass_, build_) {}

    StepPlan plan() {
        declare_memory();
        for (micro_batch_ = 0; micro_batch_ < micro_batches_; ++micro_batch_) {
            build_.begin_micro_batch(micro_batch_);
            if (micro_batch_ > 0) network_.next_pass();
            forward_and_backward();
        }
        build_.begin_micro_batch(0);
        optimize();
        declare_host_moments();
        build_.assume(kMultiTensorAssumption);
        return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_),
                                                         {OptimizerPlacement::resident, true}));
    }

  private:
    using Kind = MemoryKind;

    struct Gradient {
        BufferId buffer;
        double bytes;
        std::int64_t tensors;
    };

    void forward_and_backward() {
        for (int layer = 0; layer < layers_; ++layer)
            add(OperationKind::forward, layer, network_.forward(layer));
        add(OperationKind::loss, layers_, network_.loss());
        Operation loss = network_.loss_backward();
        if (micro_batch_ > 0) sum_gradient(loss, head_gradient_);  // whose own it holds itself
        add(OperationKind::backward, layers_, std::move(loss));
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            Operation work = network_.backward(layer);
            work.uses.push_back(head_gradient_.buffer);
            add_with(OperationKind::backward, layer, std::move(work),
                     layer_gradients_[static_cast<std::size_t>(layer)]);
        }
        add_with(OperationKind::embedding_backward, kEmbeddingLayer, network_.embedding_backward(),
                 embedding_gradient_);
    }

    void add(OperationKind kind, int layer, Operation work) {
        build_.add(kind, Lane::compute, layer, {}, std::move(work));
    }
    void add_with(OperationKind kind, int layer, Operation work, const Gradient& gradient) {
        if (micro_batch_ > 0) {
            sum_gradient(work, gradient);
            work.uses.push_back(
                build_.device_buffer("a micro-batch's gradient", Kind::gradients, gradient.bytes));
        } else {
            work.uses.push_back(gradient.buffer);
        }
        add(kind, layer, std::move(work));
    }
    /// A later micro-batch's gradient is added to what there is.
    void sum_gradient(Operation& work, const Gradient& gradient) {
        auto [sum, is_new] = sums_.try_emplace({gradient.bytes, gradient.tensors}, 0);
        if (is_new)
            sum->second = build_.kernels(
                {memory_bound("sum of gradients", kAddTraffic * gradient.bytes, gradient.tensors)});
        work.kernels.push_back(sum->second);
        work.uses.push_back(gradient.buffer);
    }

    void declare_memory() {
        const double all = all_parameters(model_);
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all);
        build_.on_device("bf16 moments", Kind::optimizer_state, 2 * kBf16 * all);
        const auto gradient = [&](double bytes, std::size_t tensors) {
            return Gradient{build_.device_buffer("bf16 gradient", Kind::gradients, bytes), bytes,
                            static_cast<std::int64_t>(tensors)};
        };
        head_gradient_ =
            gradient(head_bytes(model_) + (model_.tied_embeddings ? table_bytes(model_) : 0), 1);
        for (int layer = 0; layer < layers_; ++layer) {
            const int kind = model_.layers[static_cast<std::size_t>(layer)];
            const LayerSpec& spec = model_.kinds[static_cast<std::size_t>(kind)];
            layer_gradients_.push_back(gradient(kBf16 * parameters_of_layer(model_, layer),
                                                module_tensors(model_, spec).size()));
        }
        embedding_gradient_ = gradient(embedding_bytes(model_), 1);
        build_.on_host("process", Kind::process, static_cast<double>(machine_.host.process_base));
        build_.on_host("Python modules", Kind::process, kPyTorchModules);
    }

    /// A tied table has one gradient: the embedding's is added to the head's and freed.
    std::vector<BufferId> gradients() const {
        std::vector<BufferId> all = {head_gradient_.buffer};
        for (const Gradient& gradient : layer_gradients_) all.push_back(gradient.buffer);
        if (!model_.tied_embeddings) all.push_back(embedding_gradient_.buffer);
        return all;
    }

    void optimize() {
        const double all = all_parameters(model_);
        const std::int64_t tensors = parameter_tensors(model_);
        const auto kernel = [&](const char* name, double traffic) {
            const double as_copied = traffic / kMultiTensorShare * all;
            return gpu_operation({build_.kernels({memory_bound(name, as_copied, tensors)})},
                                 gradients());
        };
        add(OperationKind::clip_gradients, kEmbeddingLayer, kernel("norm and scale", kClipTraffic));
        add(OperationKind::update, kEmbeddingLayer, kernel("AdamW", kAdamTraffic));
    }

    void declare_host_moments() {
        const Bytes process = build_.host_peak();
        build_.moment("loading", process, "plus the file's pages, if they are not dropped");
        build_.moment("first step", process, "");
        build_.moment("steady", process, "");
        build_.moment("saving", process, "tensors are copied to the host one at a time");
        build_.resident_between_steps(process);
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const std::int64_t micro_batches_;
    const TrainingSpec pass_;
    const int layers_;
    PlanBuilder build_;
    PlainModel network_;
    Gradient head_gradient_{}, embedding_gradient_{};
    std::vector<Gradient> layer_gradients_;
    std::map<std::pair<double, std::int64_t>, std::int32_t> sums_;  ///< by bytes and tensors
    std::int64_t micro_batch_ = 0;
};

}  // namespace

StepPlan plan_resident(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training) {
    return Resident(model, machine, training).plan();
}

}  // namespace sluice
