// Hugging Face Accelerate's CPU offload hooks, as near to training as they get, from reading
// accelerate 1.15.0.dev0 (commit 16cb6eb, big_modeling.py, hooks.py, utils/modeling.py) and
// torch 2.11.0 (torch/optim/adam.py, torch/utils/checkpoint.py).
//
// accelerate.cpu_offload is for inference (its guide says so; issues 3770 and 3785). Before a
// module runs, AlignDevicesHook makes new parameters on the device from the host's state dict;
// afterwards it replaces them by "meta" tensors. Backward runs, since autograd keeps the device's
// parameters. But the gradients belong to these and are lost with them: the optimizer's parameters
// never get one, and a step changes nothing. This plan adds the least that trains: a hook on the
// device's parameters (post-accumulate-grad) copies each gradient to the host's parameter, and
// torch.optim.AdamW updates that. Parameters, gradients and moments are bf16. A step:
//
// Forward: before a module's kernels, Tensor.to() copies its tensors from pageable memory on the
// stream that computes, without prefetch or overlap.
//
// Python: between the copies, a hook looks up and sets each tensor while the GPU works.
//
// Backward with checkpointing (recompute full; use_reentrant=True, since the other kind keeps
// forward's graph and with it the parameters): a layer's hooks run again in its recomputed forward,
// and its tensors stay until its backward is done. Without checkpointing, autograd keeps the
// tensors of forward, so that the whole model is on the device at the end of forward. Gradients
// leave tensor by tensor, and the stream waits for each.
//
// Micro-batches: each repeats all of this. Later gradients are copied to pageable memory and added
// to the host's, as autograd does (accumulate_grad.h).
//
// Optimizer, on the CPU, after all gradients have left: clip_grad_norm_, then AdamW's loop over
// tensors, the default for parameters that are not all on the GPU: eight operations, each over
// whole tensors.
#include <algorithm>
#include <cmath>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

// Tensors read or written by _single_tensor_adamw: decay of the parameter 2, first moment 3, second
// moment 2 + 3, its root 2, corrected 2, epsilon 2, the parameter 4.
constexpr double kSingleTensorAdamTraffic = 20 * kBf16;
// Rate of the loop on bf16 tensors over the rate of AdamW in one pass: 0.38 to 0.64, mean 0.505, in
// six processes on an H200 machine (validation/peers/host_work.py).
constexpr double kLoopShare = 0.505;
// Temporaries of an update: root and corrected root of one tensor.
constexpr double kAdamTemporaries = 2 * kBf16;

// Host time of a tensor that arrives or leaves, in units of an eager operation: Accelerate's hooks
// and the hook that copies a gradient. Measured like the plain model's (pytorch.cpp).
constexpr double kArriveOperations = 23, kLeaveOperations = 3.5;

double largest(const std::vector<std::int64_t>& tensors) {
    return static_cast<double>(*std::max_element(tensors.begin(), tensors.end()));
}

class AccelerateOffload : public PyTorchStep {
  public:
    AccelerateOffload(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training)
        : PyTorchStep(model, machine, training),
          keeps_weights_(training.recompute == Recompute::none) {}

  private:
    /// The device copies of the embedding and the head. A tied model has two, since cpu_offload
    /// does not look for tied tensors.
    double head_weights() const {
        return head_bytes(model_) + (model_.tied_embeddings ? table_bytes(model_) : 0);
    }
    double largest_tensor(int layer) const { return kBf16 * largest(tensors_of(layer)); }

    void declare() override {
        const double all = all_parameters(model_);
        declare_processes(machine_, 1, build_);
        build_.on_host("bf16 parameters", Kind::weights, kBf16 * all);
        build_.on_host("bf16 gradients", Kind::gradients, kBf16 * all);
        build_.on_host("bf16 moments", Kind::optimizer_state, 2 * kBf16 * all);
        double tensor = largest(root_tensors(model_));
        for (const LayerSpec& kind : model_.kinds)
            tensor = std::max(tensor, largest(module_tensors(model_, kind)));
        temporaries_ = build_.buffer("AdamW's temporaries", Kind::workspace, Tier::host,
                                     kAdamTemporaries * tensor);
        not_loaded_ = static_cast<Bytes>(3 * kBf16 * all);
    }

    /// The parameters of a module: embedding, a layer, or the head.
    double bytes(int layer) const {
        if (layer == kEmbeddingLayer) return embedding_bytes(model_);
        return layer == layers_ ? head_weights() : layer_bytes(layer);
    }
    /// Device buffers of one forward and backward.
    void begin_pass() override {
        weights_.clear();
        embedding_ = build_.device_buffer("embedding", Kind::weights, bytes(kEmbeddingLayer));
        head_ = build_.device_buffer("head", Kind::weights, bytes(layers_));
        for (int layer = 0; keeps_weights_ && layer < layers_; ++layer)
            weights_.push_back(
                build_.device_buffer("a layer's weights", Kind::weights, bytes(layer)));
        arrive(kEmbeddingLayer);
    }

    /// Waits for all earlier work, since it is on the stream that computes.
    void arrive(int layer) {
        Operation copy = copy_operation(bytes(layer));
        copy.pageable = true;
        last_ = build_.add(OperationKind::copy_weights_in, layer, {{last_}}, std::move(copy));
        if (first_in_ < 0) first_in_ = last_;
    }
    /// The tensors of a layer, one by one; embedding and head are one tensor each.
    void leave(int layer) {
        const bool of_layer = is_layer(layer);
        const double tensor = of_layer ? largest_tensor(layer) : bytes(layer);
        const double fresh =
            freshly_mapped(of_layer ? tensors_of(layer)
                                    : std::vector<std::int64_t>{std::llround(bytes(layer) / kBf16)},
                           kBf16);
        Operation copy = copy_operation(
            bytes(layer), {build_.device_buffer("a tensor's gradient", Kind::gradients, tensor)});
        const BufferId arrived =
            build_.buffer("a tensor's gradient", Kind::gradients, Tier::host, tensor);
        if (!is_first()) copy.uses.push_back(arrived);
        last_ = copy_to_pageable(build_, layer, {{last_}}, std::move(copy), fresh);
        if (is_first()) return;
        last_ =
            build_.add(OperationKind::collect_gradients, layer, {{last_}},
                       host_operation(HostWork::eager_adam, kAddTraffic * bytes(layer), {arrived}));
    }

    void module(OperationKind kind, int layer, Operation work) override {
        const bool is_forward = kind == OperationKind::forward || kind == OperationKind::loss;
        const bool arrives = is_forward || (is_layer(layer) && !keeps_weights_);
        if (arrives) arrive(layer);
        if (is_layer(layer)) {
            work.eager_operations +=
                ((arrives ? kArriveOperations : 0) + (is_forward ? 0 : kLeaveOperations)) *
                static_cast<double>(tensors_of(layer).size());
            work.uses.push_back(weights_in_use(kind, layer));
            if (!is_forward)
                work.uses.push_back(build_.device_buffer("a tensor's gradient", Kind::gradients,
                                                         largest_tensor(layer)));
        }
        if (layer == layers_) work.uses.push_back(head_);
        if (layer == kEmbeddingLayer || (layer == 0 && is_forward)) work.uses.push_back(embedding_);
        if (layer == kEmbeddingLayer)
            work.uses.push_back(
                build_.device_buffer("embedding's gradient", Kind::gradients, bytes(layer)));
        last_ = build_.add(kind, layer, {{last_}}, std::move(work));
        if (!is_forward) leave(layer);
    }
    BufferId weights_in_use(OperationKind kind, int layer) {
        if (keeps_weights_) return weights_[static_cast<std::size_t>(layer)];
        return kind == OperationKind::forward
                   ? build_.device_buffer("a module's weights", Kind::weights,
                                          largest_tensor(layer))
                   : build_.device_buffer("a layer's weights", Kind::weights, bytes(layer));
    }

    void optimize() override {
        const double all = all_parameters(model_);
        build_.add(OperationKind::clip_gradients, kEmbeddingLayer, {{last_}},
                   host_operation(HostWork::norm_and_scale, kBf16 * all));
        Operation loop =
            host_operation(HostWork::eager_adam, kSingleTensorAdamTraffic * all, {temporaries_});
        loop.host_share = kLoopShare;
        const OperationId updated =
            build_.add(OperationKind::update, kEmbeddingLayer, {}, std::move(loop));
        build_.wait(first_in_, {updated, true});
    }

    void finish() override {
        declare_host_moments();
        build_.note(
            "Accelerate's hooks alone do not train, as gradients are lost with the device's "
            "copies; this schedule adds what is missing");
        build_.assume(
            "Accelerate's hooks alone do not train, as gradients are lost with the device's "
            "copies; the plan adds what is missing: each gradient is copied to the host's "
            "parameter, which torch.optim.AdamW updates");
        build_.assume(
            "PyTorch's AdamW loop on the CPU moves host memory 0.505 as fast as one pass of AdamW, "
            "as on the measured H200 machine");
        if (machine_.link.pageable_device_to_host == 0)
            build_.assume("gradients are copied to pageable memory as fast as weights from it");
        if (training_.micro_batches() > 1) build_.assume(kAddedOnCpuAssumption);
    }

    /// Bytes of gradients that zero_grad() frees and malloc returns to the system.
    double returned_gradients() const {
        double bytes = freshly_mapped(root_tensors(model_), kBf16);
        for (int layer = 0; layer < layers_; ++layer)
            bytes += freshly_mapped(tensors_of(layer), kBf16);
        return bytes;
    }

    void declare_host_moments() {
        const Bytes all = build_.host_peak();
        build_.host_moments({all - not_loaded_, "plus the file's pages"},
                            {all, "gradients and moments appear"}, {all},
                            {all, "parameters are written as they are"},
                            all - static_cast<Bytes>(returned_gradients()));
    }

    const bool keeps_weights_;
    std::vector<BufferId> weights_;  ///< of each layer, if autograd keeps them from forward on
    BufferId embedding_ = 0, head_ = 0, temporaries_ = 0;
    Bytes not_loaded_ = 0;  ///< gradients and moments
    OperationId first_in_ = -1, last_ = -1;
};

}  // namespace

ScheduleRecord accelerate_offload_schedule() {
    return {.name = "accelerate-offload",
            .about =
                "Accelerate's hooks copy each layer to the GPU for forward; they lose the "
                "gradients, so that nothing trains so today.",
            .measured_system = "Accelerate CPU offload",
            .plan = plan_of<AccelerateOffload>,
            .options = {"recompute", "attention"},
            .program = {.name = "Accelerate",
                        .gpu_makers = {"NVIDIA", "AMD"},
                        .lacks = [](const ModelSpec&, std::string_view) -> std::string {
                            return "training with cpu_offload, which loses the gradients";
                        },
                        .source = "accelerate 1.15.0, issues 3770 and 3785",
                        .date = "2026-11-23"},
            .keeps_inputs_alone = true,
            .master_bytes = 2,
            .moments_bytes = 4,
            // Nobody else trains with it: validation/peers/torch_systems.py.
            .users_run = {{"recompute", "full"}},
            .structural_error = kErrorOffloading,
            .phases = plain_phases()};
}

}  // namespace sluice
