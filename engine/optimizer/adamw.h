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
    double beta1 = 0.9, beta2 = 0.95;
    float epsilon = 1e-8F;
    float weight_decay = 0.1F;
    std::int64_t step = 1;       ///< from 1, for bias correction
    float speculated_scale = 1;  ///< of `redo`: the gradient_scale of the update that it corrects
    float gradient_scale = 1;    ///< applied to every gradient: the clipping factor
    std::uint64_t seed = 0;      ///< of stochastic rounding (8 and 6 byte states)
};

/// What a pass over the parameters does. Speculative clipping updates with the factor of the step
/// before and, where the norm then asks for another, rewinds all parameters, computes the gradients
/// again and redoes the update:
enum class UpdatePass : std::uint8_t {
    update,  ///< moments and parameters from gradient_scale x gradient
    rewind,  ///< parameters as they were before `update` (to fp32 rounding), from the moments after
             ///< it; no gradient
    /// After `update` with s = speculated_scale and `rewind`: moments and parameters as `update`
    /// with c = gradient_scale would have made them. m += (1 - beta1) (c - s) g; v += (1 - beta2)
    /// (c^2 - s^2) g^2, at least (1 - beta2) c^2 g^2. What rounding cost the first moments stays in
    /// them; where this g differs from that of the update, so does the result, (s - c) / c times as
    /// much.
    redo,
};

/// The gradient of a range: the sum of those given, zero where none is. Not yet scaled. Must be
/// finite, with a finite square in fp32 (below 1e19): moments and parameters are lost else and no
/// rewind mends them.
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
/// With 8-bit moments begin must be a multiple of kMomentBlock, and end too unless it is
/// block.count. Throws InputError where a field of `step` makes no sense, InternalError where the
/// range does not.
void adamw_range(UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
                 std::int64_t begin, std::int64_t end, bool decay, GradientRange gradient);

/// The whole block on all threads of the pool; `ranges` cover it in order, each end as in
/// adamw_range(); gradient pointers point at element 0. The result does not depend on the threads.
void adamw(ThreadPool& pool, UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
           std::span<const DecayRange> ranges, GradientRange gradient);

/// The instruction set that adamw_range uses here: "avx512", "avx2" or "portable".
const char* adamw_instruction_set();

}  // namespace sluice
