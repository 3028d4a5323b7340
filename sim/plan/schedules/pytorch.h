// What do schedules of systems that train a plain PyTorch model share? What PyTorch keeps for its
// parameters, the model's kernels and what autograd keeps of it, the thread that issues them, and a
// step of micro-batch after micro-batch.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/schedules.h"

namespace sluice {

/// Host bytes of PyTorch beyond those of a process with the device and libtorch loaded. Measured
/// once on the H200 machine: 0.55 GB when an eager layer and its loss have run forward and
/// backward; and 0.14 GB of torch._dynamo, which optimizers and checkpointing import.
inline constexpr double kPyTorchModules = 0.69e9;

/// Device bytes of cuBLAS workspaces: 32 MiB on Hopper, of the main thread and of autograd's.
inline constexpr double kBlasWorkspaces = 2 * 32.0 * kMiB;

/// Bytes a byte of gradient that is added up: read, and the sum read and written.
inline constexpr double kAddTraffic = 3;

/// Bytes that PyTorch's pinned allocator takes for a tensor: the next power of two.
double pinned_bytes(double bytes);

/// Bytes of the tensors that malloc maps each time, and the system while they are written:
/// larger than 32 MiB, the most that glibc's M_MMAP_THRESHOLD grows to by itself (mallopt(3)).
/// Smaller ones are taken to find memory that was freed before.
double mapped_anew(const std::vector<std::int64_t>& tensors, double bytes_of_element);
/// Copies gradients to pageable tensors after what it waits for, one after another: `all` of them,
/// of which `anew` bytes go to memory that is mapped meanwhile. Returns the last copy.
OperationId copy_to_pageable(PlanBuilder& build, int layer, std::vector<Dependency> waits,
                             Operation all, double anew);

/// Elements of each parameter of a layer, as a PyTorch module keeps them: q, k, v, gate and up
/// apart, each expert's too.
std::vector<std::int64_t> module_tensors(const ModelSpec& model, const LayerSpec& layer);
/// The same of embedding, final norm and head.
std::vector<std::int64_t> root_tensors(const ModelSpec& model);

/// Parameter tensors that an optimizer written in Python goes through.
std::int64_t parameter_tensors(const ModelSpec& model);

/// Bytes of one token of a layer in bf16, attention through the flash kernel.
struct SavedBytes {
    double saved = 0;               ///< kept by autograd beside the layer's input
    double forward_temporary = 0;   ///< most alive in forward where nothing is saved
    double backward_temporary = 0;  ///< most alive in backward beside what is saved
};
SavedBytes saved_bytes_per_token(const ModelSpec& model, const LayerSpec& layer);

/// Share of a device copy's rate that PyTorch's multi-tensor kernels reach (clipping, fused AdamW).
/// Measured on an H200 with torch 2.11.0, 2026-11-22: torch.optim.AdamW(fused=True) on 1e9
/// parameters in 10 tensors, median of 7 updates 5.19 ms in bf16 (5.08 to 5.26; 14 bytes a
/// parameter: 2.70 of 4.26 TB/s) and 8.14 ms in fp32 (8.04 to 8.18; 28 bytes: 3.44).
inline constexpr double kMultiTensorShare = 0.63, kMultiTensorShareFp32 = 0.81;

inline constexpr const char* kMultiTensorAssumption =
    "PyTorch's clipping and fused AdamW on the GPU reach 0.63 of a device copy's rate in bf16 and "
    "0.81 in fp32, as on the H200 measured";

/// On the host, of processes that train.
void declare_processes(const MachineSpec& machine, double processes, PlanBuilder& build);

/// For PlanBuilder: launches take no time of the compute lane where a PythonThread works them.
inline constexpr double kOfPythonThread = 0;

class PythonThread {
  public:
    /// `build` must outlive it.
    explicit PythonThread(PlanBuilder& build) : build_(build) {}

    /// It works on, so many eager operations.
    void work(double eager_operations) { not_added_ += eager_operations; }
    /// It goes on when the operation is done; -1: at once. What it did before is of `layer`.
    void wait_for(OperationId operation, int layer);
    /// What waits for all that it has done and waited for; adds that to the lane python.
    std::vector<Dependency> reached(int layer);
    /// Its first operation of the step, -1 if there is none.
    OperationId first() const { return first_; }

  private:
    void add(int layer);

    PlanBuilder& build_;
    double not_added_ = 0;
    OperationId first_ = -1, last_ = -1;
    std::vector<Dependency> waits_;  ///< since its last operation
};

/// What one GPU does in one pass: its micro-batch as the batch of a training spec of its own.
TrainingSpec training_of_pass(const TrainingSpec& training);

/// As torch.nn has it: RMSNorm in one kernel, flash attention, all logits at once and their
/// cross-entropy in fp32. With Recompute::full each layer is in torch.utils.checkpoint.
class PlainModel {
  public:
    /// `build` and the rest must outlive it; `build` was made with KernelStyle::plain.
    PlainModel(const ModelSpec& model, const TrainingSpec& training, PlanBuilder& build);

    /// Another pass of the model after the backward of the one before, with new buffers.
    void next_pass();

    /// Work of the compute lane, in the order in which a step adds it. The first layer's forward
    /// looks the tokens' embeddings up.
    Operation forward(int layer);
    Operation loss();
    Operation loss_backward();  ///< holds the head's gradient too, as long as it runs
    Operation backward(int layer);
    Operation embedding_backward();

  private:
    struct LayerKernels {
        std::int32_t forward, backward;
    };
    const LayerKernels& kernels(int layer) const;
    void declare_kernels();
    void declare_buffers();
    bool keeps_all() const { return training_.recompute == Recompute::none; }
    double bytes(double per_token) const;

    const ModelSpec& model_;
    const TrainingSpec& training_;
    PlanBuilder& build_;
    std::vector<LayerKernels> kinds_;
    std::int32_t embedding_ = 0, embedding_backward_ = 0, loss_ = 0, loss_backward_ = 0;
    std::vector<BufferId> inputs_;  ///< of each layer
    std::vector<BufferId> saved_;   ///< of each layer, where nothing is recomputed
    BufferId last_ = 0;             ///< the last layer's output, and that normed
    BufferId gradient_ = 0;         ///< of the hidden state
};

/// One GPU's step: micro-batch after micro-batch, then the optimizer. A system says where
/// parameters, gradients and states are.
class PyTorchStep {
  public:
    /// All must outlive it.
    PyTorchStep(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                double eager_operations_per_launch = 1);
    virtual ~PyTorchStep() = default;
    PyTorchStep(const PyTorchStep&) = delete;
    PyTorchStep& operator=(const PyTorchStep&) = delete;
    StepPlan plan();

  protected:
    using Kind = MemoryKind;
    using Waits = std::vector<Dependency>;

    virtual void declare() = 0;   ///< kernels and memory of all passes
    virtual void pass() = 0;      ///< forward, loss and backward of a micro-batch
    virtual void optimize() = 0;  ///< after the last
    virtual void finish() = 0;    ///< the host's memory over a run, and what the plan assumes
    bool is_first() const { return micro_batch_ == 0; }
    bool is_last() const { return micro_batch_ + 1 == training_.micro_batches(); }
    double layer_bytes(int layer) const { return kBf16 * parameters_of_layer(model_, layer); }
    std::vector<std::int64_t> tensors_of(int layer) const {
        return module_tensors(model_, model_.layer(layer));
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const TrainingSpec pass_;  ///< of one micro-batch
    const int layers_;
    PlanBuilder build_;
    PlainModel network_;

  private:
    std::int64_t micro_batch_ = 0;
};

}  // namespace sluice
