// What do all uses of ZeRO-3 on one GPU share: the model's forward and backward, parameters that
// come before a module and gradients that leave in buckets after it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/schedules/plain_model.h"
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

    /// What the operation that stands for some modules waits for, and which buffers it is the last
    /// to use.
    struct Fetched {
        std::vector<Dependency> waits;
        std::vector<BufferId> released;
        void add(const Fetched& more);
    };
    /// Calls the next `calls` modules, which use the parameters `used`.
    virtual Fetched fetch(int calls, int layer, const Parameters& used) = 0;
    /// A bucket's gradients leave; `layer` computed the last of them.
    virtual void leave(const GradientBucket& bucket, int layer) = 0;

    /// A bucket's gradients on the device, and the last copy of those to pinned bf16 and back, for
    /// their norm.
    struct SentBucket {
        BufferId gradients;
        OperationId back;
    };
    /// Sends them. Precondition: `bucket` has gradients.
    SentBucket send(const GradientBucket& bucket, int layer);

    /// Forward, loss and backward in order, until the last gradients have left. Declares the bucket
    /// and a tied table's gradient.
    void forward_and_backward();
    /// The first operation of the compute lane. Precondition: forward_and_backward() has run.
    OperationId first_compute() const { return first_compute_; }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const int layers_;
    const Zero3Modules modules_;
    PlanBuilder build_;

  private:
    OperationId compute(OperationKind kind, int layer, const Fetched& fetched, Operation work);
    void forward();
    void backward();
    void backward_of(OperationKind kind, int layer, const Fetched& fetched, Operation work,
                     const std::vector<std::int64_t>& tensors);
    std::vector<std::int64_t> head_tensors() const;

    PlainModel network_;
    GradientBuckets buckets_;
    BufferId tied_gradient_ = kNoBuffer;
    OperationId first_compute_ = -1;
};

}  // namespace sluice
