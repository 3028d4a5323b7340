#include "engine/optimizer/adamw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/optimizer/adamw_implementation.h"
#include "engine/optimizer/weight_codes.h"
#include "sim/base/input_error.h"

namespace sluice {

namespace {

constexpr AdamWImplementation kPortable = {"portable", adamw_portable, weight_codes_portable};

/// Smallest piece of a thread's work, in elements of 26 bytes: 0.4 MB, far above the cost of a
/// claim.
constexpr std::int64_t kGrain = std::int64_t{1} << 14;
static_assert(kGrain % kMomentBlock == 0);

void check_number(const char* name, double value, bool holds, const char* expected) {
    if (!holds)
        throw InputError(fmt::format("optimizer: {} is {}, expected {}", name, value, expected));
}

void check_step(const AdamWStep& s) {
    if (s.step < 1)
        throw InternalError(fmt::format("adamw: step is {}, expected 1 or more", s.step));
    if (!std::isfinite(s.gradient_scale))
        throw InternalError(
            "adamw: the gradient scale is not finite; was the clipping factor checked?");
    const bool rate = s.learning_rate >= 0 && std::isfinite(s.learning_rate);
    check_number("learning_rate", s.learning_rate, rate, "a finite number of at least 0");
    check_number("beta1", s.beta1, s.beta1 >= 0 && s.beta1 < 1, "at least 0 and below 1");
    check_number("beta2", s.beta2, s.beta2 >= 0 && s.beta2 < 1, "at least 0 and below 1");
    const bool epsilon = s.epsilon > 0 && std::isfinite(s.epsilon);
    check_number("epsilon", s.epsilon, epsilon, "a finite number above 0, e.g. 1e-8");
    const bool decay = s.weight_decay >= 0 && s.learning_rate * s.weight_decay < 1;
    check_number("weight_decay", s.weight_decay, decay, "at least 0 and below 1 / learning_rate");
}

void check_range(const ParameterBlock& block, std::int64_t begin, std::int64_t end) {
    if (find_state_precision(block.state_bytes) == nullptr)
        throw InternalError(fmt::format("adamw: state_bytes is {}, expected {}", block.state_bytes,
                                        state_bytes_choices()));
    if (begin < 0 || begin > end || end > block.count)
        throw InternalError(fmt::format("adamw: range [{}, {}) is not within the {} elements",
                                        begin, end, block.count));
    const bool whole = begin % kMomentBlock == 0 && (end % kMomentBlock == 0 || end == block.count);
    if (block.precision().has_scales() && !whole)
        throw InternalError(
            fmt::format("adamw: range [{}, {}) with 8-bit moments, expected multiples of {}", begin,
                        end, kMomentBlock));
}

void check_pass(UpdatePass pass, const ParameterBlock& block) {
    const bool half = pass == UpdatePass::parameters || pass == UpdatePass::moments;
    if (half && block.precision().has_scales())
        throw InternalError(
            fmt::format("adamw: half an update of {} bytes, which have scales", block.state_bytes));
}

AdamWArrays arrays_from(const ParameterBlock& block, std::int64_t i, GradientRange gradient,
                        std::int64_t gradient_at) {
    const StatePrecision& precision = block.precision();
    const auto from_here = [i](void* from, int bytes) {
        return from == nullptr ? nullptr : static_cast<std::byte*>(from) + i * bytes;
    };
    const bool scaled = precision.has_scales();
    return {
        .high = block.high + i,
        .low = from_here(block.low, precision.low_bytes),
        .first = from_here(block.first_moment, precision.moment_bytes),
        .second = from_here(block.second_moment, precision.moment_bytes),
        .first_scale = scaled ? block.first_scale + i / kMomentBlock : nullptr,
        .second_scale = scaled ? block.second_scale + i / kMomentBlock : nullptr,
        .gradient_bf16 = gradient.bf16 == nullptr ? nullptr : gradient.bf16 + (i - gradient_at),
        .gradient_fp32 = gradient.fp32 == nullptr ? nullptr : gradient.fp32 + (i - gradient_at),
        .index = static_cast<std::uint32_t>(i % kSegment),
        .keys = {},
    };
}

void check_cover(std::span<const DecayRange> ranges, std::int64_t count) {
    std::int64_t covered = 0;
    for (const DecayRange& range : ranges) {
        if (range.begin != covered || range.end < range.begin)
            throw InternalError(fmt::format("adamw: decay range [{}, {}) follows element {}",
                                            range.begin, range.end, covered));
        covered = range.end;
    }
    if (covered != count)
        throw InternalError(
            fmt::format("adamw: decay ranges cover {} of {} elements", covered, count));
}

}  // namespace

/// Formulas of the constants: algorithm 2 of arXiv 1711.05101, in the order of torch.optim.AdamW.
AdamWConstants constants_of(const AdamWStep& s, bool decay) {
    check_step(s);
    const double beta1 = s.beta1, beta2 = s.beta2, c = s.gradient_scale, s0 = s.speculated_scale,
                 rate = s.learning_rate;
    const auto t = static_cast<double>(s.step);
    const auto f = [](double x) { return static_cast<float>(x); };
    return {
        .gradient_scale = s.gradient_scale,
        .beta1 = f(beta1),
        .one_minus_beta1 = f(1 - beta1),
        .beta2 = f(beta2),
        .one_minus_beta2 = f(1 - beta2),
        .inverse_root_correction2 = f(1 / std::sqrt(1 - std::pow(beta2, t))),
        .epsilon = s.epsilon,
        .step_size = f(rate / (1 - std::pow(beta1, t))),
        .keep = decay ? f(1 - rate * static_cast<double>(s.weight_decay)) : 1.0F,
        .redo_first = f((1 - beta1) * (c - s0)),
        .redo_second = f((1 - beta2) * (c * c - s0 * s0)),
        .second_atleast = f((1 - beta2) * c * c),
    };
}

std::span<const AdamWImplementation> adamw_implementations() {
#if defined(__x86_64__)
    static constexpr std::array<AdamWImplementation, 3> all = {
        {{"avx512", adamw_avx512, weight_codes_avx512},
         {"avx2", adamw_avx2, weight_codes_avx2},
         kPortable}};
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return std::span(all).subspan(avx512 && avx2 ? 0 : avx2 ? 1 : 2);
#else
    static constexpr std::array<AdamWImplementation, 1> all = {kPortable};
    return all;
#endif
}

void adamw_range_by(const AdamWImplementation& implementation, UpdatePass pass,
                    const AdamWStep& step, const ParameterBlock& block, std::int64_t begin,
                    std::int64_t end, bool decay, GradientRange gradient) {
    check_range(block, begin, end);
    check_pass(pass, block);
    const AdamWConstants constants = constants_of(step, decay);
    for (std::int64_t at = begin; at < end;) {
        const std::int64_t segment = at / kSegment;
        const std::int64_t stop = std::min(end, (segment + 1) * kSegment);
        AdamWArrays arrays = arrays_from(block, at, gradient, begin);
        const std::uint64_t key = key_of_segment(key_of_step(step), segment, pass);
        arrays.keys[0] = static_cast<std::uint32_t>(key);
        arrays.keys[1] = static_cast<std::uint32_t>(key >> 32);
        implementation.run(pass, block.state_bytes, constants, arrays, stop - at);
        at = stop;
    }
}

void adamw_range(UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
                 std::int64_t begin, std::int64_t end, bool decay, GradientRange gradient) {
    static const AdamWImplementation& best = adamw_implementations().front();
    adamw_range_by(best, pass, step, block, begin, end, decay, gradient);
}

std::uint16_t weight_codes(const std::uint16_t* from, std::uint8_t* codes, std::int64_t count,
                           float factor) {
    static const AdamWImplementation& best = adamw_implementations().front();
    return best.weight_codes(from, codes, count, factor);
}

void adamw(ThreadPool& pool, UpdatePass pass, const AdamWStep& step, const ParameterBlock& block,
           std::span<const DecayRange> ranges, GradientRange gradient, const AfterUpdate& after) {
    check_cover(ranges, block.count);
    pool.parallel_for(block.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        const auto ends_by = [](const DecayRange& range, std::int64_t at) {
            return range.end <= at;
        };
        auto range = std::lower_bound(ranges.begin(), ranges.end(), begin, ends_by);
        for (std::int64_t at = begin; at < end;) {
            const std::int64_t stop = std::min({end, range->end, after ? at + kGrain : range->end});
            const GradientRange here = {
                gradient.bf16 == nullptr ? nullptr : gradient.bf16 + at,
                gradient.fp32 == nullptr ? nullptr : gradient.fp32 + at,
            };
            adamw_range(pass, step, block, at, stop, range->decay, here);
            if (after) after(at, stop);
            if (stop == range->end) ++range;
            at = stop;
        }
    });
}

}  // namespace sluice
