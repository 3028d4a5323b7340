// Which compiled versions of the AdamW loop are there, and which arguments does each get? Internal
// to this folder and its tests.
#pragma once

#include <cstdint>
#include <span>

#include "engine/optimizer/adamw.h"
#include "sim/base/mixed_bits.h"

namespace sluice {

/// Elements that share the keys of their random bits.
inline constexpr std::int64_t kSegment = std::int64_t{1} << 20;

constexpr std::uint64_t key_of_step(const AdamWStep& step) {
    return mixed_bits(mixed_bits(step.seed) ^ static_cast<std::uint64_t>(step.step));
}
/// `update` and `redo` of a step round with different bits; otherwise redo would repeat the
/// rounding errors of update. All others draw those of the update that they are a part of or take
/// back.
constexpr std::uint64_t key_of_segment(std::uint64_t step_key, std::int64_t segment,
                                       UpdatePass pass) {
    const UpdatePass draws = pass == UpdatePass::redo ? pass : UpdatePass::update;
    return mixed_bits(mixed_bits(step_key ^ static_cast<std::uint64_t>(segment)) ^
                      static_cast<std::uint64_t>(draws));
}

/// AdamWStep for the loop: computed in double, rounded to fp32 once.
struct AdamWConstants {
    float gradient_scale;
    float beta1, one_minus_beta1;
    float beta2, one_minus_beta2;
    float inverse_root_correction2;  ///< 1 / sqrt(1 - beta2^step)
    float epsilon;
    float step_size;   ///< learning_rate / (1 - beta1^step)
    float keep;        ///< 1 - learning_rate x weight_decay; 1 without decay
    float redo_first;  ///< (1 - beta1) (c - s): gradient_scale less speculated_scale
    float redo_second, second_atleast;  ///< (1 - beta2) (c^2 - s^2), (1 - beta2) c^2
};

/// Throws InputError if a field of `step` is invalid.
AdamWConstants constants_of(const AdamWStep& step, bool decay);

/// The arrays of a block and its gradient from the first element of a call on.
struct AdamWArrays {
    std::uint16_t* high;
    void* low;
    void* first;
    void* second;
    float* first_scale;
    float* second_scale;
    const std::uint16_t* gradient_bf16;
    const float* gradient_fp32;
    /// Random bits of element i are a hash of (index + i) and the keys, on any thread.
    std::uint32_t index;
    std::uint32_t keys[2];
};

struct AdamWImplementation {
    const char* name;
    void (*run)(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                const AdamWArrays& arrays, std::int64_t count);
    /// See weight_codes.h.
    std::uint16_t (*weight_codes)(const std::uint16_t* from, std::uint8_t* codes,
                                  std::int64_t count, float factor);
};

/// The versions that run on this processor, fastest first; never empty. All give the same bits.
std::span<const AdamWImplementation> adamw_implementations();

/// adamw_range() with a chosen version.
void adamw_range_by(const AdamWImplementation& implementation, UpdatePass pass,
                    const AdamWStep& step, const ParameterBlock& block, std::int64_t begin,
                    std::int64_t end, bool decay, GradientRange gradient);

void adamw_portable(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                    const AdamWArrays& arrays, std::int64_t count);
void adamw_avx2(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                const AdamWArrays& arrays, std::int64_t count);
void adamw_avx512(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                  const AdamWArrays& arrays, std::int64_t count);

std::uint16_t weight_codes_portable(const std::uint16_t* from, std::uint8_t* codes,
                                    std::int64_t count, float factor);
std::uint16_t weight_codes_avx2(const std::uint16_t* from, std::uint8_t* codes, std::int64_t count,
                                float factor);
std::uint16_t weight_codes_avx512(const std::uint16_t* from, std::uint8_t* codes,
                                  std::int64_t count, float factor);

}  // namespace sluice
