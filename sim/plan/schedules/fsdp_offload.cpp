// PyTorch FSDP2 with CPUOffloadPolicy on one GPU, from reading torch 2.11.0
// (torch/distributed/fsdp/_fully_shard, torch/nn/utils/clip_grad.py, torch/optim/adamw.py, ATen's
// pinned allocator): fully_shard on each layer and on the model, fp32 parameters pinned on the
// host, param_dtype and reduce_dtype bf16. One step:
//
// Forward: before a layer, each of its parameters is copied to the device in fp32, cast to bf16 and
// copied into its unsharded place. With one rank there is no collective and no prefetch. All of
// this is on the stream that computes: a copy waits for the previous layer, and the layer waits for
// the copy. After a layer its weights are freed. Embedding, final norm and head are the model's own
// group: they arrive first and stay until backward ends.
//
// Backward: each layer's parameters arrive again, once; a checkpointed forward uses the same
// copies. Gradients are joined in bf16, copied ("reduced") and cast to fp32 on their own stream,
// and copied tensor by tensor into pinned memory during the previous layer's work. Before a layer's
// gradients are joined, the next layer's must have been reduced, which means that those of the
// layer after it have left. The model's own group leaves last.
//
// Python: the host issues a layer's copies, then its work, and waits for neither.
//
// Micro-batches: each repeats all of this, with requires_gradient_sync at its default (otherwise
// all gradients stay on the device until the last). The first gradients become the host's. Later
// ones are copied, tensor by tensor, to pageable memory and added to those; the host issues nothing
// during that time (foreach_reduce in _fsdp_collectives.py: the copy is non-blocking only if there
// is no gradient yet). After each backward the host waits for the remaining copies.
//
// Optimizer, on the CPU, after all gradients have arrived: clip_grad_norm_ tensor by tensor, then
// AdamW(fused=True) on fp32 parameters, gradients and moments.
#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

using Elements = std::vector<std::int64_t>;

// Device memory traffic in bytes per parameter. In: fp32 read, bf16 written, and copied. Out:
// joined, copied, cast.
constexpr double kFsdpCastTraffic = kFp32 + 3 * kBf16, kFsdpReduceTraffic = 5 * kBf16 + kFp32;
// Host memory traffic in bytes per parameter: gradient read; parameter and both moments read and
// written. To add one up: read, and the sum read and written.
constexpr double kFsdpAdamTraffic = 7 * kFp32, kFsdpAddTraffic = 3 * kFp32;
// A parameter arrives in three device operations and leaves in one.
constexpr std::int64_t kCastLaunches = 3, kFsdpReduceLaunches = 1;
// Host time of a tensor that arrives or leaves, in units of an eager operation: FSDP2's hooks,
// measured like the plain model's (pytorch.cpp).
constexpr double kFsdpArriveOperations = 11, kFsdpLeaveOperations = 6;

double pinned_fp32(const Elements& tensors) {
    double total = 0;
    for (const std::int64_t elements : tensors)
        total += pinned_bytes(static_cast<double>(kFp32 * elements));
    return total;
}

class FsdpOffload : public PyTorchStep {
  public:
    FsdpOffload(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : PyTorchStep(model, machine, training, kOfPythonThread), python_(build_) {}

  private:
    void declare() override {
        declare_groups();
        declare_memory();
    }

    /// Parameters that arrive and leave together.
    struct Group {
        double parameters = 0, pinned = 0;
        double arriving =
            0;  ///< device bytes in addition to the weights while the largest tensor arrives
        double largest = 0;  ///< elements of one tensor
        double fresh = 0;    ///< bytes, where gradients are copied to pageable memory
        double tensors = 0;
        std::int32_t cast = 0, reduce = 0;
    };

    Group group(const Elements& tensors) {
        Group out;
        out.parameters = std::accumulate(tensors.begin(), tensors.end(), 0.0);
        out.pinned = pinned_fp32(tensors);
        out.largest = static_cast<double>(*std::max_element(tensors.begin(), tensors.end()));
        out.arriving = (kFp32 + kBf16) * out.largest;
        out.fresh = freshly_mapped(tensors, kFp32);
        const auto count = static_cast<std::int64_t>(tensors.size());
        out.tensors = static_cast<double>(count);
        out.cast = build_.kernels({memory_bound(
            "cast of arriving weights", kFsdpCastTraffic * out.parameters, kCastLaunches * count)});
        out.reduce = build_.kernels(
            {memory_bound("join and cast of gradients", kFsdpReduceTraffic * out.parameters,
                          kFsdpReduceLaunches * count + 3)});
        return out;
    }
    void declare_groups() {
        root_ = group(root_tensors(model_));
        for (const LayerSpec& kind : model_.kinds)
            kinds_.push_back(group(module_tensors(model_, kind)));
    }
    const Group& group_of(int layer) const {
        return is_layer(layer) ? kinds_[kind_of(model_, layer)] : root_;
    }

    void declare_memory() {
        double pinned = root_.pinned;
        for (int layer = 0; layer < layers_; ++layer) pinned += group_of(layer).pinned;
        const double moments = 2 * kFp32 * all_parameters(model_);
        declare_processes(machine_, 1, build_);
        build_.on_host("pinned fp32 parameters", Kind::weights, pinned);
        build_.on_host("pinned fp32 gradients", Kind::gradients, pinned);
        build_.on_host("fp32 moments", Kind::optimizer_state, moments);
        not_loaded_ = static_cast<Bytes>(pinned + moments);
    }

    void begin_pass() override {
        root_weights_ =
            build_.device_buffer("embedding and head", Kind::weights, kBf16 * root_.parameters);
        head_gradient_ = build_.device_buffer(
            "head's gradient", Kind::gradients,
            model_.tied_embeddings ? table_bytes(model_) + head_bytes(model_) : head_bytes(model_));
        python_.wait_for(left_, kEmbeddingLayer);
        arrive(kEmbeddingLayer);
        compute(OperationKind::unflatten, kEmbeddingLayer,
                gpu_operation({root_.cast}, {build_.device_buffer("arriving parameter",
                                                                  Kind::weights, root_.arriving)}));
    }

    /// Each waits for the one before it on the stream: the copy for the work so far, the work for
    /// the copy.
    void arrive(int layer) {
        Waits waits = python_.reached(layer);
        waits.push_back({computed_});
        arrived_ = build_.add(OperationKind::copy_weights_in, layer, std::move(waits),
                              copy_operation(kFp32 * group_of(layer).parameters));
        if (first_in_ < 0) first_in_ = arrived_;
    }
    void compute(OperationKind kind, int layer, Operation work) {
        work.uses.push_back(root_weights_);
        python_.work(std::exchange(work.eager_operations, 0));
        computed_ = build_.add(kind, layer, {{arrived_}}, std::move(work));
    }

    void module(OperationKind kind, int layer, Operation work) override {
        const Group& group = group_of(layer);
        const bool leaves = layer != layers_ && kind != OperationKind::forward;
        if (is_layer(layer)) {  // its weights are freed at its end
            arrive(layer);
            work.kernels.push_front(group.cast);
            work.eager_operations += kFsdpArriveOperations * group.tensors;
            if (leaves) work.eager_operations += kFsdpLeaveOperations * group.tensors;
            work.uses.push_back(
                build_.device_buffer("a layer's weights", Kind::weights, kBf16 * group.parameters));
        }
        if (leaves) {
            work.kernels.push_back(group.reduce);
            work.uses.push_back(head_gradient_);
            work.uses.push_back(module_gradients(layer));
        }
        compute(kind, layer, std::move(work));
        if (leaves) leave(layer, group);
    }

    /// Joined gradients in bf16, their copy, and that in fp32.
    void leave(int layer, const Group& group) {
        const BufferId reduced =
            build_.device_buffer("reduced gradients", Kind::gradients,
                                 static_cast<double>(2 * kBf16 + kFp32) * group.parameters);
        Operation copy = copy_operation(kFp32 * group.parameters, {reduced});
        Waits waits = python_.reached(layer);
        waits.push_back({computed_});
        python_.wait_for(left_, layer);
        if (!is_first()) return add_up(layer, group, std::move(waits), std::move(copy));
        left_ =
            build_.add(OperationKind::copy_gradients_out, layer, std::move(waits), std::move(copy));
    }

    /// A later micro-batch's gradients; the host waits for each.
    void add_up(int layer, const Group& group, Waits waits, Operation copy) {
        const BufferId arrived = build_.buffer("a tensor's gradient", Kind::gradients, Tier::host,
                                               kFp32 * group.largest);
        copy.uses.push_back(arrived);
        const OperationId out =
            copy_to_pageable(build_, layer, std::move(waits), std::move(copy), group.fresh);
        left_ = build_.add(
            OperationKind::collect_gradients, layer, {{out}},
            host_operation(HostWork::eager_adam, kFsdpAddTraffic * group.parameters, {arrived}));
        python_.wait_for(left_, layer);
    }

    void optimize() override {
        const double all = all_parameters(model_);
        build_.add(OperationKind::clip_gradients, kEmbeddingLayer, {{left_}},
                   host_operation(HostWork::norm_and_scale_fp32, kFp32 * all));
        const OperationId updated =
            build_.add(OperationKind::update, kEmbeddingLayer, {},
                       host_operation(HostWork::eager_adam, kFsdpAdamTraffic * all));
        for (const OperationId first : {first_in_, python_.first()})
            build_.wait(first, {updated, true});
    }

    void finish() override {
        declare_host_moments();
        build_.assume(
            "PyTorch's fused AdamW on fp32 parameters moves host memory at the measured rate of "
            "its AdamW on bf16 masters");
        build_.assume(
            "PyTorch clips 0.8 times as many elements per second in fp32 as in bf16, as on the "
            "measured H200 machine");
        if (training_.micro_batches() > 1) build_.assume(kAddedOnCpuAssumption);
    }

    void declare_host_moments() {
        const Bytes all = build_.host_peak();
        build_.host_moments(
            {all - not_loaded_, "parameters are pinned one after another; plus the file's pages"},
            {all, "gradients and moments appear"},
            {all, "freed gradients stay in the pinned allocator's cache"},
            {all, "parameters are written as they are"});
    }

    PythonThread python_;
    Group root_;
    std::vector<Group> kinds_;
    Bytes not_loaded_ = 0;  ///< gradients and moments
    BufferId root_weights_ = 0, head_gradient_ = 0;
    OperationId first_in_ = -1, arrived_ = -1, computed_ = -1, left_ = -1;
};

}  // namespace

ScheduleRecord fsdp_offload_schedule() {
    return {.name = "fsdp-offload",
            .about =
                "PyTorch's FSDP2 copies each layer from the host and its gradients back; it "
                "needs no other library, and waits for copies.",
            .measured_system = "PyTorch FSDP2 CPU offload",
            .plan = plan_of<FsdpOffload>,
            .options = {"recompute", "attention"},
            .program = {.name = "PyTorch FSDP2",
                        .gpu_makers = {"NVIDIA", "AMD"},
                        .source = "torch 2.11.0, torch.distributed.fsdp; AMD: "
                                  "docs.pytorch.org/docs/stable/notes/hip.html",
                        .date = "2026-11-23"},
            .keeps_inputs_alone = true,
            // github:pytorch/torchtune@0031bfb, recipes/configs/llama3_1/70B_full.yaml
            // (fsdp_cpu_offload).
            .users_run = {{"recompute", "full"}},
            .structural_error = kErrorOffloading,
            .phases = plain_phases()};
}

}  // namespace sluice
