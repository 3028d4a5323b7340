// Hugging Face Accelerate's CPU offload hooks, as near to training as they get, from reading
// accelerate 1.15.0.dev0 (commit 16cb6eb, big_modeling.py, hooks.py, utils/modeling.py) and
// torch 2.11.0 (torch/optim/adam.py, torch/utils/checkpoint.py).
//
// accelerate.cpu_offload is for inference (its guide says so; issues 3770 and 3785): before a
// module runs, AlignDevicesHook makes new parameters on the device from the host's state dict, and
// after it puts "meta" tensors in their place. Backward runs, as autograd keeps the device's
// parameters; but the gradients are theirs and go with them: the optimizer's parameters never get
// one, and a step changes nothing. What is planned here is the least that does train: each gradient
// is copied to the host's parameter as soon as it is made (a post-accumulate-grad hook on the
// device's), and torch.optim.AdamW updates those. bf16 parameters, gradients and moments. A step:
//
// Forward: each module's tensors are copied from pageable memory by Tensor.to(), on the stream that
// computes, before its kernels: no prefetch, no overlap either way.
//
// Python: a hook looks each tensor up and sets it, between the copies; the GPU works meanwhile.
//
// Backward: with checkpointing (recompute full; use_reentrant=True, as the other kind keeps
// forward's graph and with it the parameters) a layer's hooks run again in its recomputed forward,
// and its tensors stay until its backward is done. Without, autograd keeps the tensors of forward,
// so that by its end the whole model is on the device. Gradients leave tensor by tensor, the stream
// waiting for each.
//
// Micro-batches: all of that again in each; a later one's gradients are copied to pageable memory
// and added to the host's there, as autograd would (accumulate_grad.h).
//
// Optimizer, on the CPU, when all has left: clip_grad_norm_, then AdamW's loop over tensors, the
// default for parameters that are not all on the GPU: eight operations, each over whole tensors.
#include <algorithm>
#include <cmath>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

// Tensors read or written by _single_tensor_adamw: decay of the parameter 2, first moment 3, second
// moment 2 + 3, its root 2, corrected 2, epsilon 2, the parameter 4.
constexpr double kSingleTensorAdamTraffic = 20 * kBf16;
// How fast the loop on bf16 tensors moves host memory, of what AdamW does in one pass: 0.38 to
// 0.64, mean 0.505, in six processes on an H200 machine (validation/peers/host_work.py).
constexpr double kLoopShare = 0.505;
// Alive at once beside them: root and corrected root of one tensor.
constexpr double kAdamTemporaries = 2 * kBf16;

// Host time of a tensor that arrives or leaves, in that of an eager operation: Accelerate's hooks
// and the one that copies a gradient, measured as that of the plain model (pytorch.cpp).
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
    /// The embedding's copy on the device, and the head's, which a tied model makes a second time:
    /// cpu_offload does not look for tied tensors.
    double head_weights() const {
        return head_bytes(model_) + (model_.tied_embeddings ? table_bytes(model_) : 0);
    }
    double tensors(int layer) const { return static_cast<double>(tensors_of(layer).size()); }
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

    /// On the device, in one forward and backward.
    void declare_weights() {
        weights_.clear();
        embedding_ = build_.device_buffer("embedding", Kind::weights, embedding_bytes(model_));
        head_ = build_.device_buffer("head", Kind::weights, head_weights());
        for (int layer = 0; keeps_weights_ && layer < layers_; ++layer)
            weights_.push_back(
                build_.device_buffer("a layer's weights", Kind::weights, layer_bytes(layer)));
    }

    /// Waits for all earlier work: it is on the stream that computes.
    void arrive(int layer, double bytes) {
        Operation copy = copy_operation(bytes);
        copy.pageable = true;
        std::vector<Dependency> waits;
        if (last_ >= 0) waits.push_back({last_});
        last_ = build_.add(OperationKind::copy_weights_in, Lane::host_to_device, layer,
                           std::move(waits), std::move(copy));
        if (first_in_ < 0) first_in_ = last_;
    }
    void compute(OperationKind kind, int layer, Operation work) {
        last_ = build_.add(kind, Lane::compute, layer, {{last_}}, std::move(work));
    }
    /// `anew`: bytes of tensors for which the host maps new memory.
    void leave(int layer, double bytes, double tensor, double anew) {
        Operation copy = copy_operation(
            bytes, {build_.device_buffer("a tensor's gradient", Kind::gradients, tensor)});
        const BufferId arrived =
            build_.buffer("a tensor's gradient", Kind::gradients, Tier::host, tensor);
        if (!is_first()) copy.uses.push_back(arrived);
        last_ = copy_to_pageable(build_, layer, {{last_}}, std::move(copy), anew);
        if (is_first()) return;
        last_ = build_.add(OperationKind::collect_gradients, Lane::host, layer, {{last_}},
                           host_operation(HostWork::eager_adam, kAddTraffic * bytes, {arrived}));
    }

    void pass() override {
        declare_weights();
        forward();
        backward();
    }

    void forward() {
        arrive(kEmbeddingLayer, embedding_bytes(model_));
        for (int layer = 0; layer < layers_; ++layer) {
            arrive(layer, layer_bytes(layer));
            Operation work = network_.forward(layer);
            work.eager_operations += kArriveOperations * tensors(layer);
            if (layer == 0) work.uses.push_back(embedding_);
            work.uses.push_back(keeps_weights_
                                    ? weights_[static_cast<std::size_t>(layer)]
                                    : build_.device_buffer("a module's weights", Kind::weights,
                                                           largest_tensor(layer)));
            compute(OperationKind::forward, layer, std::move(work));
        }
        arrive(layers_, head_weights());
        Operation work = network_.loss();
        work.uses.push_back(head_);
        compute(OperationKind::loss, layers_, std::move(work));
    }

    void backward() {
        Operation head = network_.loss_backward();
        head.uses.push_back(head_);
        compute(OperationKind::backward, layers_, std::move(head));
        leave(layers_, head_weights(), head_weights(),
              mapped_anew({std::llround(head_weights() / kBf16)}, kBf16));
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            if (!keeps_weights_) arrive(layer, layer_bytes(layer));
            Operation work = network_.backward(layer);
            work.eager_operations +=
                ((keeps_weights_ ? 0 : kArriveOperations) + kLeaveOperations) * tensors(layer);
            work.uses.push_back(
                keeps_weights_
                    ? weights_[static_cast<std::size_t>(layer)]
                    : build_.device_buffer("a layer's weights", Kind::weights, layer_bytes(layer)));
            work.uses.push_back(build_.device_buffer("a tensor's gradient", Kind::gradients,
                                                     largest_tensor(layer)));
            compute(OperationKind::backward, layer, std::move(work));
            leave(layer, layer_bytes(layer), largest_tensor(layer),
                  mapped_anew(tensors_of(layer), kBf16));
        }
        Operation work = network_.embedding_backward();
        work.uses.push_back(embedding_);
        work.uses.push_back(
            build_.device_buffer("embedding's gradient", Kind::gradients, embedding_bytes(model_)));
        compute(OperationKind::embedding_backward, kEmbeddingLayer, std::move(work));
        leave(kEmbeddingLayer, embedding_bytes(model_), embedding_bytes(model_),
              mapped_anew({embedding_parameters(model_)}, kBf16));
    }

    void optimize() override {
        const double all = all_parameters(model_);
        build_.add(OperationKind::clip_gradients, Lane::optimizer, kEmbeddingLayer, {{last_}},
                   host_operation(HostWork::norm_and_scale, kBf16 * all));
        Operation loop =
            host_operation(HostWork::eager_adam, kSingleTensorAdamTraffic * all, {temporaries_});
        loop.host_share = kLoopShare;
        const OperationId updated = build_.add(OperationKind::update, Lane::optimizer,
                                               kEmbeddingLayer, {}, std::move(loop));
        build_.wait(first_in_, {updated, true});
    }

    void finish() override {
        declare_host_moments();
        build_.note(
            "Accelerate's hooks alone do not train, as gradients are lost with the device's "
            "copies; "
            "this is the nearest that does");
        build_.assume(
            "Accelerate's hooks alone do not train, as gradients are lost with the device's "
            "copies; "
            "planned is the nearest that does: each gradient is copied to the host's parameter, "
            "updated there by torch.optim.AdamW");
        build_.assume(
            "PyTorch's AdamW loop on the CPU moves host memory 0.505 as fast as one pass of AdamW, "
            "as on the H200 machine measured");
        if (machine_.link.pageable_device_to_host == 0)
            build_.assume("gradients are copied to pageable memory as fast as weights from it");
        if (training_.micro_batches() > 1)
            build_.assume(
                "PyTorch adds gradients up on the CPU as fast as its AdamW moves host memory");
    }

    /// Bytes of gradients that zero_grad() frees and malloc returns to the system.
    double returned_gradients() const {
        double bytes = mapped_anew(root_tensors(model_), kBf16);
        for (int layer = 0; layer < layers_; ++layer)
            bytes += mapped_anew(tensors_of(layer), kBf16);
        return bytes;
    }

    void declare_host_moments() {
        const Bytes all = build_.host_peak();
        build_.moment("loading", all - not_loaded_, "plus the file's pages");
        build_.moment("first step", all, "gradients and moments appear");
        build_.moment("steady", all, "");
        build_.moment("saving", all, "parameters are written as they are");
        build_.resident_between_steps(all - static_cast<Bytes>(returned_gradients()));
    }

    const bool keeps_weights_;
    std::vector<BufferId> weights_;  ///< of each layer, where autograd keeps them from forward on
    BufferId embedding_ = 0, head_ = 0, temporaries_ = 0;
    Bytes not_loaded_ = 0;  ///< gradients and moments
    OperationId first_in_ = -1, last_ = -1;
};

}  // namespace

ScheduleRecord accelerate_offload_schedule() {
    return {.name = "accelerate-offload",
            .measured_system = "Accelerate CPU offload",
            .plan = plan_of<AccelerateOffload>,
            .options = {"recompute"},
            .keeps_inputs_alone = true,
            .master = "bf16",
            .moments = "bf16",
            .structural_error = kErrorOffloading,
            .phases = plain_phases()};
}

}  // namespace sluice
