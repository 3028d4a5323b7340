// What do all uses of ZeRO-3 on one GPU share: the model's forward and backward, parameters that
// come before a module and gradients that leave in buckets after it.
//
// Micro-batches are DeepSpeed's gradient_accumulation_steps (runtime/zero/stage3.py's
// partition_grads, parameter_offload.py's start of forward; the same in 0.19.8 and at edaa722).
// Each fetches the parameters again, by the trace of one forward and backward. The first one's
// gradients are copied to pinned bf16 (data_types.grad_accum_dtype is that of the model unless it
// is set) and back; a later one's are added on the device to what is copied there, and the sum is
// copied out again. Only the last one's sums go on to the optimizer's fp32 gradients, after their
// norm. At the end of each backward the host waits until all has left.
//
// Python: modules run on the GPU while the host still issues them, so that they begin when it does;
// what follows them, gradients that leave too, comes after its Python.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/schedules/plain_model.h"
#include "sim/plan/schedules/python_thread.h"
#include "sim/plan/schedules/zero3_gradients.h"
#include "sim/plan/schedules/zero3_modules.h"

namespace sluice {

/// A system says where parameters come from, where gradients go, and how they are applied.
class Zero3Pass {
  public:
    virtual ~Zero3Pass() = default;
    Zero3Pass(const Zero3Pass&) = delete;
    Zero3Pass& operator=(const Zero3Pass&) = delete;

  protected:
    /// `bucket_elements`: reduce_bucket_size. `model` and the rest must outlive it.
    Zero3Pass(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
              double bucket_elements);

    using Kind = MemoryKind;
    using Parameters = Zero3Modules::Parameters;

    /// What the operation of some modules waits for in addition to their Python's start, and
    /// which buffers it is the last to use.
    struct Fetched {
        std::vector<Dependency> waits;
        std::vector<BufferId> released;
    };
    /// The host calls the next `calls` modules, which use the parameters `used` and take
    /// `eager_operations` of its time, which python_ is to work.
    virtual Fetched fetch(int calls, int layer, const Parameters& used,
                          double eager_operations) = 0;
    /// Another micro-batch begins; python_ has waited for last_left().
    virtual void begin_pass() {}

    /// A bucket's gradients on the device, and the last copy between there and pinned bf16.
    struct SentBucket {
        const GradientBucket& bucket;
        BufferId gradients;
        OperationId last;
    };
    /// The last micro-batch's gradients of a bucket go to the optimizer's; `layer` computed the
    /// last of them. Returns the last copy.
    virtual OperationId to_optimizer(const SentBucket& sent, int layer) = 0;
    /// The last copy of a bucket of any micro-batch; -1 if none has left.
    OperationId last_left() const { return left_.empty() ? -1 : left_.back(); }
    /// The last copy of each bucket, in order.
    const std::vector<OperationId>& buckets_left() const { return left_; }

    /// Forward, loss and backward of each micro-batch in order, until the last gradients have left.
    /// Declares the bucket and a tied table's gradient.
    void forward_and_backward();

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const TrainingSpec pass_;  ///< of one micro-batch
    const int layers_;
    const Zero3Modules modules_;
    const Parameters embedding_ = {0}, head_;
    PlanBuilder build_;
    PythonThread python_;

  private:
    bool is_first() const { return micro_batch_ == 0; }
    bool is_last() const { return micro_batch_ + 1 == training_.micro_batches(); }
    /// The modules' work on the GPU, `calls` of the host.
    struct Modules {
        OperationKind kind;
        int layer, calls;
        const Parameters& used;
    };
    OperationId compute(const Modules& modules, Operation work);
    void leave(const GradientBucket& bucket, int layer);
    SentBucket send(const GradientBucket& bucket, int layer);
    KernelList reduce_kernels(const std::vector<std::int64_t>& tensors) const;
    void forward();
    void backward();
    void backward_of(const Modules& modules, int recomputed_calls, Operation work,
                     const std::vector<std::int64_t>& tensors);
    std::vector<std::int64_t> head_tensors() const;

    PlainModel network_;
    GradientBuckets buckets_;
    BufferId tied_gradient_ = kNoBuffer;
    std::vector<OperationId> left_;
    std::int64_t micro_batch_ = 0;
};

}  // namespace sluice
