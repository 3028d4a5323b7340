// AdamW (Loshchilov and Hutter, arXiv 1711.05101) on parameters in host memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/optimizer/parameter_block.h"
#include "engine/optimizer/thread_pool.h"

namespace sluice {

struct AdamWStep {
    float learning_rate = 1e-3F;
    float beta1 = 0.9F, beta2 = 0.95F;
    float epsilon = 1e-8F;
    float weight_decay = 0.1F;
    std::int64_t step = 1;       ///< from 1, for bias correction
    float gradient_scale = 1;    ///< applied to every gradient: the clipping factor
    std::uint64_t seed = 0;      ///< of stochastic rounding (8 and 6 byte states)
};

/// What a pass over the parameters does. Speculative clipping updates with the unclipped gradient and, where the
/// norm then exceeds the limit, rewinds all parameters, computes the gradients again and redoes the update:
enum class UpdatePass : std::uint8_t {
    update,  ///< moments and parameters from gradient_scale x gradient
    rewind,  ///< parameters as they were before `update` (to fp32 rounding), from the moments after it; no gradient
    /// After `update` with scale 1 and `rewind`: moments and parameters as `update` with gradient_scale would have
    /// made them. m += (1 - beta1) (c - 1) g; v += (1 - beta2) (c^2 - 1) g^2, at least (1 - beta2) c^2 g^2.
    redo,
};

/// The gradient of a range: the sum of those given, zero where none is. Not yet scaled.
struct GradientRange {
    const std::uint16_t* bf16 = nullptr;
    const float* fp32 = nullptr;
};

/// Elements [begin, end) of a block that weight decay applies to or not.
struct DecayRange {
    std::int64_t begin = 0, end = 0;
    bool decay = true;
};

/// One thread's work: elements [begin, end) of `block`; gradient pointers point at element `begin`.
/// With 8-bit moments begin must be a multiple of kMomentBlock, and end too unless it is block.count.
void adamw_range(UpdatePass pass, const AdamWStep& step, const ParameterBlock& block, std::int64_t begin,
                 std::int64_t end, bool decay, GradientRange gradient);

/// The whole block on all threads of the pool; `ranges` cover it in order; gradient pointers point at element 0.
void adamw(ThreadPool& pool, UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
           std::span<const DecayRange> ranges, GradientRange gradient);

/// The instruction set that adamw_range uses here: "avx512", "avx2" or "portable".
const char* adamw_instruction_set();

}  // namespace sluice
