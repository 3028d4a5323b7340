// How much memory traffic does the work between the products cause, fused and in eager PyTorch?
#pragma once

#include <cstdint>

#include "sim/specs/model/layer_kernels.h"

namespace sluice {

/// Kernel's `bytes` and `work_bytes`, per element.
struct TrafficAndWork {
    double bytes, work = 0;
};

/// Bytes of device memory traffic per element in the elementwise work of a layer.
struct ElementwiseTraffic {
    TrafficAndWork norm, norm_backward;            ///< per element of the norm's input
    TrafficAndWork head_norm, head_norm_backward;  ///< per element of q and k
    TrafficAndWork rotary, rotary_backward;        ///< per element of q and k
    double activation, activation_backward;  ///< per element of the feed-forward's width, gated
    double bias_backward;                    ///< per element of q, k and v
    double cross_entropy;                    ///< per logit
    double residual;                         ///< per element of hidden, for each of two additions
    std::int64_t launches_norm, launches_rotary, launches_activation, launches_cross_entropy;
};

// Bytes that take the time measured on the H200 at the rate of a device copy
// (hwprofiles/measurements, 32768 tokens of Qwen2.5-7B), so that slower kernels keep their time. If
// a machine's profile has measured times of the trainer's kernels, these are used. Fused:
// F.rms_norm 0.134 ms, its backward 0.356 ms; rotary in place at 4 B, gated activation at 6 B, its
// backward, which also restores the product, at 12 B; cross-entropy reads each logit, reads it
// again and overwrites it. Eager: RMSNorm 1.458 and 3.18 ms, rotary 1.60 and 1.88 ms, SiLU and
// product 1.466 and 2.559 ms, cross-entropy 1.214 and 1.565 ms. Norms of heads count as norms of
// rows, gradients of biases as one read.
inline constexpr ElementwiseTraffic kFusedTraffic{{4.9}, {12.9}, {4}, {6}, {4}, {4}, 6, 12,
                                                  2,     6,      6,   1,   1,   1,   1};

// Eager norms and rotary take 52.9, 115.4, 58 and 68 bytes' time. Moved bytes are counted, the
// rest is work. RMSNorm: to fp32 (6), square (8), mean (4), scale (8), round (6), weight (4); its
// backward: 14 kernels that move 92. Rotary: two products (4 each), half of it negated (2), joined
// (4), sum (6); backward: products (8), negation (2), halves copied into zeros (8), two sums (12).
inline constexpr TrafficAndWork kEagerNorm{36, 52.9 - 36}, kEagerNormBackward{92, 115.4 - 92},
    kEagerRotary{20, 58 - 20}, kEagerRotaryBackward{30, 68 - 30};
inline constexpr ElementwiseTraffic kEagerTraffic{kEagerNorm,
                                                  kEagerNormBackward,
                                                  kEagerNorm,
                                                  kEagerNormBackward,
                                                  kEagerRotary,
                                                  kEagerRotaryBackward,
                                                  10.1,
                                                  17.6,
                                                  2,
                                                  19,
                                                  6,
                                                  7,
                                                  5,
                                                  2,
                                                  4};

/// As eager, with a fused norm of whole rows; norms of heads are, like rotary, rarely fused.
inline constexpr ElementwiseTraffic kPlainTraffic = [] {
    ElementwiseTraffic out = kEagerTraffic;
    out.norm = kFusedTraffic.norm;
    out.norm_backward = kFusedTraffic.norm_backward;
    out.launches_norm = kFusedTraffic.launches_norm;
    return out;
}();

/// Bytes per logit of `cross_entropy(logits.float())`: 4.14 and 3.885 ms for 4096 x 152064.
inline constexpr double kFloatCrossEntropy = 28.0, kFloatCrossEntropyBackward = 26.3;

/// The same with the work that an element is.
inline Kernel elementwise(const char* name, MemoryBoundWork work, std::int64_t rows,
                          std::int64_t columns, const TrafficAndWork& an_element) {
    Kernel kernel = elementwise(name, work, rows, columns, an_element.bytes);
    kernel.work_bytes = an_element.work * static_cast<double>(rows) * static_cast<double>(columns);
    return kernel;
}

inline const ElementwiseTraffic& elementwise_traffic(KernelStyle style) {
    switch (style) {
        case KernelStyle::fused:
            return kFusedTraffic;
        case KernelStyle::eager:
        case KernelStyle::modules:
            return kEagerTraffic;
        case KernelStyle::plain:
            return kPlainTraffic;
    }
    return kEagerTraffic;
}

}  // namespace sluice
