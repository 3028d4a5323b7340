// AdamW (Loshchilov and Hutter, arXiv 1711.05101) on parameters in host memory. The fp32 master is
// kept as two 16-bit planes: the upper one is the parameter rounded to bf16, which is what is
// streamed to the device.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <span>

#include "engine/optimizer/thread_pool.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

/// A flat range of parameters. `state_bytes` is a row of kStatePrecisions, or kFrozen. Masters of
/// less than 32 bits and moments of less than that are rounded stochastically.
struct ParameterBlock {
    std::uint16_t* high = nullptr;  ///< (count) bf16, master rounded to nearest
    /// (count) Master bits minus high << 16, as a signed number: all 16 bits of it, the upper 8, or
    /// none (null).
    void* low = nullptr;
    void* first_moment = nullptr;   ///< (count)
    void* second_moment = nullptr;  ///< (count)
    float* first_scale = nullptr;   ///< (count / kMomentBlock, rounded up), 8-bit moments only
    float* second_scale = nullptr;
    std::int64_t count = 0;
    int state_bytes = 12;

    const StatePrecision& precision() const { return state_precision(state_bytes); }
    bool is_trained() const { return precision().moment_bytes > 0; }
};

/// Sets the lower plane, if there is one, and the moments to take(bytes), one after another.
template <typename Take>
void place_state(ParameterBlock& block, Take take) {
    const auto [low, first, second, first_scale, second_scale] =
        block.precision().array_bytes(block.count);
    if (low > 0) block.low = take(low);
    if (first == 0) return;
    block.first_moment = take(first);
    block.second_moment = take(second);
    if (first_scale == 0) return;
    block.first_scale = reinterpret_cast<float*>(take(first_scale));
    block.second_scale = reinterpret_cast<float*>(take(second_scale));
}

/// A block whose arrays are take(bytes), one after another.
template <typename Take>
ParameterBlock placed_block(std::int64_t count, int state_bytes, Take take) {
    ParameterBlock block;
    block.count = count;
    block.state_bytes = state_bytes;
    block.high = reinterpret_cast<std::uint16_t*>(take(2 * count));
    place_state(block, take);
    return block;
}

/// The two planes of an fp32 master; join_master() restores it bit by bit.
struct MasterPlanes {
    std::uint16_t high, low;
};
inline MasterPlanes split_master(float master) {
    const auto bits = std::bit_cast<std::uint32_t>(master);
    return {static_cast<std::uint16_t>((bits + 0x8000U) >> 16), static_cast<std::uint16_t>(bits)};
}
inline float join_master(MasterPlanes planes) {
    const auto low =
        static_cast<std::int16_t>(planes.low);  // the sign bit of low: high was rounded up
    return std::bit_cast<float>((static_cast<std::uint32_t>(planes.high) << 16) +
                                static_cast<std::uint32_t>(static_cast<std::int32_t>(low)));
}

/// The master of element `i`.
inline float master_of(const ParameterBlock& block, std::int64_t i) {
    std::uint16_t low = 0;
    if (block.precision().low_bytes == 2) low = static_cast<const std::uint16_t*>(block.low)[i];
    if (block.precision().low_bytes == 1)
        low = static_cast<std::uint16_t>(static_cast<const std::uint8_t*>(block.low)[i] << 8);
    return join_master({block.high[i], low});
}
/// Rounds to the nearest master of the block's precision.
inline void set_master(const ParameterBlock& block, std::int64_t i, float master) {
    const int low_bytes = block.precision().low_bytes;
    auto bits = std::bit_cast<std::uint32_t>(master);
    if (low_bytes == 1) bits = (bits + 0x80U) & ~0xffU;
    const MasterPlanes planes = split_master(std::bit_cast<float>(bits));
    block.high[i] = planes.high;
    if (low_bytes == 2) static_cast<std::uint16_t*>(block.low)[i] = planes.low;
    if (low_bytes == 1)
        static_cast<std::uint8_t*>(block.low)[i] = static_cast<std::uint8_t>(planes.low >> 8);
}

struct AdamWStep {
    float learning_rate = 1e-3F;
    double beta1 = 0.9, beta2 = 0.95;
    float epsilon = 1e-8F;
    float weight_decay = 0.1F;
    std::int64_t step = 1;       ///< from 1, for bias correction
    float speculated_scale = 1;  ///< of `redo`: the gradient_scale of the update that it corrects
    float gradient_scale = 1;    ///< applied to every gradient: the clipping factor
    std::uint64_t seed = 0;      ///< of stochastic rounding (states below 12 bytes)
};

/// Kinds of passes over the parameters. `parameters` and then `moments` give the bits of `update`;
/// both need states without scales. Speculative clipping updates with the factor of the step before
/// and, where the norm then asks for another, rewinds all parameters, computes the gradients again
/// and redoes the update:
enum class UpdatePass : std::uint8_t {
    update,      ///< moments and parameters from gradient_scale x gradient
    parameters,  ///< those of `update`; the moments stay as they are
    moments,     ///< those of `update`; the parameters are not touched
    /// Parameters as they were before `update`, from the moments after it; no gradient. To fp32
    /// rounding, or, with a smaller master, exactly but for few: it draws the random bits of
    /// `update` and takes their rounding back.
    rewind,
    /// After `update` with s = speculated_scale and `rewind`: moments and parameters as `update`
    /// with c = gradient_scale would have made them. m += (1 - beta1) (c - s) g; v += (1 - beta2)
    /// (c^2 - s^2) g^2, at least (1 - beta2) c^2 g^2. The rounding errors of the first moments stay
    /// in them; where this g differs from that of the update, so does the result, (s - c) / c times
    /// as much.
    redo,
};

/// The gradient of a range: the sum of the given ones, zero if there is none. Not yet scaled. Must
/// be finite, with a finite square in fp32 (below 1e19); otherwise moments and parameters are lost,
/// and no rewind restores them.
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
/// block.count. Throws InputError if a field of `step` is invalid, InternalError if the range is.
void adamw_range(UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
                 std::int64_t begin, std::int64_t end, bool decay, GradientRange gradient);

/// Called by the thread that has just updated elements [begin, end), which are in its cache.
using AfterUpdate = std::function<void(std::int64_t begin, std::int64_t end)>;

/// The whole block on all threads of the pool. `ranges` cover it in order, each end as in
/// adamw_range(); gradient pointers point at element 0. The result does not depend on the number of
/// threads.
void adamw(ThreadPool& pool, UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
           std::span<const DecayRange> ranges, GradientRange gradient,
           const AfterUpdate& after = {});

}  // namespace sluice
