// Which code do schedules of systems share that train a plain PyTorch model? Memory that PyTorch
// and autograd keep for parameters and backward, the model's kernels, the thread that issues them,
// a step of micro-batch after micro-batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/schedules.h"

namespace sluice {

/// Host bytes of PyTorch in addition to a process with the device and libtorch loaded. Measured
/// once on the H200 machine: 0.55 GB after forward and backward of an eager layer and its loss, and
/// 0.14 GB of torch._dynamo, which optimizers and checkpointing import.
inline constexpr double kPyTorchModules = 0.69e9;

/// Device bytes of cuBLAS workspaces: 32 MiB each on Hopper, for the main thread and for
/// autograd's.
inline constexpr double kBlasWorkspaces = 2 * 32.0 * kMiB;

/// Bytes that PyTorch's pinned allocator takes for a tensor: the next power of two.
double pinned_bytes(double bytes);

/// Bytes of the tensors for which malloc maps new pages at each allocation, so that the system maps
/// them while they are written: larger than 32 MiB, the most that glibc's M_MMAP_THRESHOLD grows to
/// by itself (mallopt(3)). Smaller ones are assumed to reuse freed memory.
double freshly_mapped(const std::vector<std::int64_t>& tensors, double bytes_of_element);
/// Memory traffic per byte of gradient that is added up: read, and the sum read and written.
inline constexpr double kAddTraffic = 3;
/// Copies gradients to pageable tensors, one after another, after the dependencies: `all` bytes, of
/// which `fresh` go to memory that is mapped during the copy. Returns the last copy.
OperationId copy_to_pageable(PlanBuilder& build, int layer, Dependencies waits, Operation all,
                             double fresh);

/// The table's gradient is zeroed, then each token's gradient is added to its row.
Kernel embedding_gradient_kernel(const ModelSpec& model, const TrainingSpec& pass);

/// Elements of each parameter of a layer, as a PyTorch module keeps them: q, k, v, gate and up are
/// separate, and each expert's tensors too.
std::vector<std::int64_t> module_tensors(const ModelSpec& model, const LayerSpec& layer);
/// The same for embedding, final norm and head.
std::vector<std::int64_t> root_tensors(const ModelSpec& model);

/// Width of the feed-forward that a token passes.
double width_of_token(const FeedForwardSpec& feed_forward);

/// Number of parameter tensors that an optimizer in Python iterates over.
std::int64_t parameter_tensors(const ModelSpec& model);

/// Bytes per token of a layer in bf16, with flash attention.
struct SavedBytes {
    double saved = 0;               ///< kept by autograd in addition to the layer's input
    double forward_temporary = 0;   ///< largest total in forward if nothing is saved
    double backward_temporary = 0;  ///< largest total in backward in addition to the saved tensors
};
SavedBytes saved_bytes_per_token(const ModelSpec& model, const LayerSpec& layer);

/// Rate of PyTorch's multi-tensor kernels (clipping, fused AdamW) over a device copy's. Measured on
/// an H200 with torch 2.11.0, 2026-11-22: torch.optim.AdamW(fused=True) on 1e9 parameters in 10
/// tensors, median of 7 updates 5.19 ms in bf16 (5.08 to 5.26; 14 bytes per parameter: 2.70 of 4.26
/// TB/s) and 8.14 ms in fp32 (8.04 to 8.18; 28 bytes: 3.44).
inline constexpr double kMultiTensorShare = 0.63, kMultiTensorShareFp32 = 0.81;
/// Tensors that the default of torch.optim.Adam (_multi_tensor_adam) reads and writes: lerp (3),
/// mul (2), addcmul (3), sqrt into a list of temporaries (2), division and addition in it (2 each),
/// addcdiv (4).
inline constexpr double kForeachAdamPasses = 18;

inline constexpr const char* kAddedOnCpuAssumption =
    "PyTorch adds gradients up on the CPU as fast as its AdamW moves host memory";
inline constexpr const char* kMultiTensorAssumption =
    "PyTorch's clipping and fused AdamW on the GPU reach 0.63 of a device copy's rate in bf16 and "
    "0.81 in fp32, as on the measured H200";

void declare_processes(const MachineSpec& machine, double processes, PlanBuilder& build);

/// For PlanBuilder: launches take no time of the compute lane if a PythonThread issues them.
inline constexpr double kOfPythonThread = 0;

class PythonThread {
  public:
    /// `build` must outlive it.
    explicit PythonThread(PlanBuilder& build) : build_(build) {}

    /// Python runs for the time of that many eager operations.
    void work(double eager_operations) { not_added_ += eager_operations; }
    /// Python waits for the operation; -1: not at all. Its earlier work belongs to `layer`.
    void wait_for(OperationId operation, int layer);
    /// A dependency on all earlier work and waits; adds that work to the lane python.
    Dependencies reached(int layer);
    /// Its first operation of the step, -1 if there is none.
    OperationId first() const { return first_; }

  private:
    void add(int layer);

    PlanBuilder& build_;
    double not_added_ = 0;
    OperationId first_ = -1, last_ = -1;
    Dependencies waits_;  ///< since its last operation
};

/// One GPU's step: one micro-batch after another, then the optimizer.
class MicroBatchStep {
  public:
    /// All must outlive it. `eager_operations_per_launch` is for PlanBuilder.
    MicroBatchStep(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   KernelStyle style, double eager_operations_per_launch);
    virtual ~MicroBatchStep() = default;
    MicroBatchStep(const MicroBatchStep&) = delete;
    MicroBatchStep& operator=(const MicroBatchStep&) = delete;
    StepPlan plan();

  protected:
    using Kind = MemoryKind;
    using Waits = Dependencies;

    virtual void declare() = 0;   ///< kernels and memory of all passes
    virtual void pass() = 0;      ///< forward, loss and backward of a micro-batch
    virtual void optimize() = 0;  ///< after the last micro-batch
    virtual void finish() = 0;    ///< host memory over a run, and assumptions of the plan
    bool is_first() const { return micro_batch_ == 0; }
    bool is_last() const { return micro_batch_ + 1 == training_.micro_batches(); }
    bool is_layer(int layer) const { return layer >= 0 && layer < layers_; }
    double layer_bytes(int layer) const { return kBf16 * parameters_of_layer(model_, layer); }
    std::vector<std::int64_t> tensors_of(int layer) const {
        return module_tensors(model_, model_.layer(layer));
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const TrainingSpec pass_;  ///< of one micro-batch, as its batch
    const int layers_;
    PlanBuilder build_;

  private:
    std::int64_t micro_batch_ = 0;
};

/// The step of a model as in torch.nn: RMSNorm in one kernel, flash attention, a loss of the asked
/// kind. With Recompute::full each layer is in torch.utils.checkpoint. A
/// system defines where parameters, gradients and states are.
class PyTorchStep : public MicroBatchStep {
  protected:
    PyTorchStep(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                double eager_operations_per_launch = 1);

    virtual void begin_pass() {}
    /// The next part of the model on the GPU: each layer's forward (the first looks up the
    /// embeddings), the loss, backward of the head (which keeps its gradient as long as it runs)
    /// and of each layer from the last to the first, then embedding_backward. `layer` of the head
    /// is layers_.
    virtual void module(OperationKind kind, int layer, Operation work) = 0;
    void pass() override;
    /// With adapters these alone are trained.
    bool adapts() const { return training_.adapter_rank > 0; }
    /// Elements of a layer, or of all outside layers; with adapters only `trained` ones change.
    struct Parameters {
        double all = 0, trained = 0;
        double frozen() const { return all - trained; }
    };
    Parameters elements(int layer) const;
    Parameters all_elements() const;
    /// Parameter tensors that are trained: of a layer, or of all outside layers; of the model.
    std::int64_t trained_tensors(int layer) const;
    std::int64_t trained_tensors() const;
    /// The head's gradient, and the table's that is tied to it.
    double head_gradient_bytes() const {
        if (adapts()) return 0;
        return head_bytes(model_) + (model_.tied_embeddings ? table_bytes(model_) : 0);
    }
    /// Gradients in bf16 of a layer's parameters, or the embedding's.
    BufferId module_gradients(int layer) {
        if (!is_layer(layer))
            return build_.device_buffer("embedding's gradient", Kind::gradients,
                                        adapts() ? 0 : embedding_bytes(model_));
        return build_.device_buffer("a layer's gradients", Kind::gradients,
                                    kBf16 * elements(layer).trained);
    }

  private:
    struct LayerKernels {
        std::int32_t forward, backward;
    };
    void declare_loss_kernels();
    void declare_kernels();
    void declare_buffers();
    Operation forward(int layer);
    Operation loss();
    Operation loss_backward();
    Operation backward(int layer);
    bool keeps_all(int layer) const {
        return pass_.recompute == Recompute::none || layer >= layers_ - pass_.keep_last_layers;
    }
    BufferId activations(const char* name, double bytes_per_token);
    double eager_operations(double of_a_launch, std::int32_t kernels) const;
    /// Logits, their gradients and what else the loss keeps.
    double loss_forward_bytes() const;
    double loss_backward_bytes() const;

    std::vector<LayerKernels> kinds_;
    std::int32_t embedding_ = 0, embedding_backward_ = 0, loss_ = 0, loss_backward_ = 0;
    std::int32_t first_backward_ = 0;  ///< of the first layer, where that differs from its kind's
    std::vector<BufferId> inputs_;     ///< of each layer
    std::vector<BufferId> saved_;      ///< of each layer that recomputes nothing
    BufferId last_ = 0;                ///< the last layer's output, before and after the norm
    BufferId gradient_ = 0;            ///< of the hidden state
};

}  // namespace sluice
