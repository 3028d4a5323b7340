// Everything in device memory, as in a plain PyTorch loop for a model that fits (from reading torch
// 2.11.0: torch/optim/adamw.py, torch/nn/utils/clip_grad.py, torch/utils/checkpoint.py).
// Parameters, gradients and moments are bf16, 8 bytes a parameter; what adapters freeze has no
// gradients and moments. One step: forward, loss and
// backward of each micro-batch (the first gradients are kept, and autograd adds the others to them:
// torch/csrc/autograd/functions/accumulate_grad.h); clip_grad_norm_ (one pass for the norm, one to
// scale); AdamW(fused=True), or its default, which keeps a list of temporaries of the parameters'
// size (--adam foreach); gradients are freed (zero_grad sets them to none).
#include <map>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

// Device memory traffic in bytes per parameter. Clipping: gradient read, then read and written.
// Update: parameter and both moments read and written, gradient read.
constexpr double kClipTraffic = 3 * kBf16, kResidentAdamTraffic = 7 * kBf16;

class Resident : public PyTorchStep {
  public:
    Resident(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : PyTorchStep(model, machine, training) {}

  private:
    struct Gradient {
        BufferId buffer;
        double bytes;
        std::int64_t tensors;
    };

    void module(OperationKind kind, int layer, Operation work) override {
        if (kind == OperationKind::backward && layer == layers_) {
            if (!is_first()) sum_gradient(work, head_gradient_);  // which holds its gradient itself
        } else if (kind == OperationKind::backward) {
            work.uses.push_back(head_gradient_.buffer);
            add_gradient(work, layer_gradients_[static_cast<std::size_t>(layer)]);
        } else if (kind == OperationKind::embedding_backward) {
            add_gradient(work, embedding_gradient_);
        }
        build_.add(kind, layer, {}, std::move(work));
    }

    void add_gradient(Operation& work, const Gradient& gradient) {
        if (is_first()) return work.uses.push_back(gradient.buffer);
        sum_gradient(work, gradient);
        work.uses.push_back(
            build_.device_buffer("a micro-batch's gradient", Kind::gradients, gradient.bytes));
    }
    /// A later micro-batch's gradient is added to the earlier sum.
    void sum_gradient(Operation& work, const Gradient& gradient) {
        if (gradient.bytes <= 0) return;  // of what is frozen
        auto [sum, is_new] = sums_.try_emplace({gradient.bytes, gradient.tensors}, 0);
        if (is_new)
            sum->second = build_.kernels(
                {memory_bound("sum of gradients", kAddTraffic * gradient.bytes, gradient.tensors)});
        work.kernels.push_back(sum->second);
        work.uses.push_back(gradient.buffer);
    }

    void declare() override {
        const Parameters all = all_elements();
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all.all);
        build_.on_device("bf16 moments", Kind::optimizer_state, 2 * kBf16 * all.trained);
        const auto gradient = [&](double bytes, std::int64_t tensors) {
            return Gradient{build_.device_buffer("bf16 gradient", Kind::gradients, bytes), bytes,
                            tensors};
        };
        head_gradient_ = gradient(head_gradient_bytes(), 1);
        for (int layer = 0; layer < layers_; ++layer)
            layer_gradients_.push_back(
                gradient(kBf16 * elements(layer).trained, trained_tensors(layer)));
        embedding_gradient_ = gradient(adapts() ? 0 : embedding_bytes(model_), 1);
        declare_processes(machine_, 1, build_);
    }

    /// A tied table has one gradient: the embedding's is added to the head's and freed.
    BufferUses gradients() const {
        BufferUses all = {head_gradient_.buffer};
        for (const Gradient& gradient : layer_gradients_) all.push_back(gradient.buffer);
        if (!model_.tied_embeddings) all.push_back(embedding_gradient_.buffer);
        return all;
    }

    void optimize() override {
        const double all = all_elements().trained;
        const std::int64_t tensors = trained_tensors();
        const auto kernel = [&](const char* name, double traffic) {
            const double as_copied = traffic / kMultiTensorShare * all;
            return gpu_operation({build_.kernels({memory_bound(name, as_copied, tensors)})},
                                 gradients());
        };
        build_.add(OperationKind::clip_gradients, Work::compute, kEmbeddingLayer, {},
                   kernel("norm and scale", kClipTraffic));
        const bool foreach = training_.adam == AdamKernel::foreach;
        Operation update =
            kernel("AdamW", foreach ? kForeachAdamPasses * kBf16 : kResidentAdamTraffic);
        if (foreach)
            update.uses.push_back(
                build_.device_buffer("temporaries of Adam", Kind::optimizer_state, kBf16 * all));
        build_.add(OperationKind::update, Work::compute, kEmbeddingLayer, {}, std::move(update));
    }

    void finish() override {
        build_.assume(kMultiTensorAssumption);
        const Bytes process = build_.host_peak();
        build_.host_moments({process, "plus the file's pages, if they are not dropped"}, {process},
                            {process}, {process, "tensors are copied to the host one at a time"});
    }

    Gradient head_gradient_{}, embedding_gradient_{};
    std::vector<Gradient> layer_gradients_;
    std::map<std::pair<double, std::int64_t>, std::int32_t> sums_;  ///< number of bytes and tensors
};

}  // namespace

ScheduleRecord resident_schedule() {
    return {
        .name = "resident",
        .about =
            "PyTorch keeps all in the GPU's memory in bf16; this is fast where it fits, "
            "and has no fp32 states.",
        .measured_system = "resident",
        .plan = plan_of<Resident>,
        .options = {"recompute", "adam", "attention", "loss", "adapter_rank", "adapter_targets",
                    "adapter_dropout_percent"},
        .program = {.name = "PyTorch",
                    .gpu_makers = {"NVIDIA", "AMD", "Apple"},
                    .source = "torch 2.11.0; AMD: logs of an MI355X, "
                              "github:chinmaydk99/MegaTrain@69d5ab61; Apple: "
                              "docs.pytorch.org/docs/stable/notes/mps.html",
                    .date = "2026-11-23"},
        .keeps_inputs_alone = true,
        .master_bytes = 2,
        .moments_bytes = 4,
        // github:pytorch/torchtune@02d7035, recipes/configs/llama3_1/8B_full_single_device.yaml;
        // the optimizer is the default of TrainingArguments in transformers 5.17.
        .users_run = {{"recompute", "full"}, {"adam", "fused"}},
        .structural_error = kErrorOnDevice,
        .phases = plain_phases()};
}

}  // namespace sluice
