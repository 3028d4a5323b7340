#include "sim/plan/schedules/zero3_gradients.h"

#include <algorithm>
#include <utility>

#include "sim/base/units.h"

namespace sluice {

/// The norm is taken in fp64, of so many elements at a time.
constexpr double kNormElements = 2.5e8, kFp64 = 8;

double GradientBucket::device_bytes(bool to_optimizer) const {
    // Several tensors are joined once more to be reduced; one after another comes back from the
    // host in bf16 (or is added up with what does), is widened for its norm and cast to fp32.
    const double joined = tensors > 1 ? kBf16 * elements : 0;
    const double norm = kFp64 * std::min(largest, kNormElements);
    const double fp32 = to_optimizer ? std::max<double>(norm, kFp32 * largest) : 0;
    return joined + kBf16 * outside + kBf16 * largest + fp32;
}

std::optional<GradientBucket> GradientBuckets::add(double tensor_elements,
                                                   OperationId computed_by) {
    std::optional<GradientBucket> full;
    if (filling_.tensors > 0 && filling_.elements + tensor_elements > capacity_)
        full = std::exchange(filling_, {});
    filling_.elements += tensor_elements;
    filling_.largest = std::max(filling_.largest, tensor_elements);
    if (tensor_elements > capacity_) filling_.outside += tensor_elements;
    ++filling_.tensors;
    filling_.last = computed_by;
    return full;
}

}  // namespace sluice
