// When do gradients leave the device under ZeRO-3, and what does that take there?
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sim/plan/step_program.h"

namespace sluice {

/// Gradients that are reduced together, and sent to the host one after another.
struct GradientBucket {
    double elements = 0;
    double largest = 0;  ///< elements of one tensor
    double outside = 0;  ///< elements of tensors too large to be copied into the bucket
    std::int64_t tensors = 0;
    OperationId last = 0;  ///< the operation that computed the last of them

    /// Device bytes while it leaves, beside the bucket itself; `to_optimizer`: as fp32 too, after
    /// its norm.
    double device_bytes(bool to_optimizer) const;
};

/// Fills buckets in the order in which backward computes gradients.
class GradientBuckets {
  public:
    /// `capacity` in elements: reduce_bucket_size.
    explicit GradientBuckets(double capacity) : capacity_(capacity) {}
    double capacity() const { return capacity_; }
    /// The bucket that is full and leaves before this tensor goes into the next, if so.
    std::optional<GradientBucket> add(double tensor_elements, OperationId computed_by);
    /// What is left at the end; the next one is empty.
    GradientBucket take_rest() { return std::exchange(filling_, {}); }

  private:
    double capacity_;
    GradientBucket filling_;
};

}  // namespace sluice
