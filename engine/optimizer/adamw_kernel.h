// How does AdamW change one vector of elements, and how does it walk over an array? Written
// once for all instruction sets: V wraps the vectors of one (see adamw_portable.cpp).
//
// engine/kernels/cuda/adamw.cu gives it vectors of a GPU.
//
// Each V lives in an anonymous namespace, so each file that includes this has its own copies: code
// compiled for AVX-512 can not replace the same function elsewhere. For the same reason nothing
// here calls an inline function of another header.
#pragma once

#include <cfloat>
#include <cstdint>
#include <cstring>

#include "engine/optimizer/adamw_implementation.h"
#include "engine/optimizer/moment_codes.h"

namespace sluice {

template <class V>
SLUICE_INLINE typename V::Float load_bf16(const std::uint16_t* from) {
    return V::as_float(V::template shift_left<16>(V::load_u16(from)));
}

template <class V>
SLUICE_INLINE typename V::Float load_gradient(const AdamWArrays& a, std::int64_t i) {
    typename V::Float gradient = V::set(0);
    if (a.gradient_bf16 != nullptr) gradient = load_bf16<V>(a.gradient_bf16 + i);
    if (a.gradient_fp32 != nullptr) gradient = V::add(gradient, V::load(a.gradient_fp32 + i));
    return gradient;
}

/// join_master() and split_master() of adamw.h, with a lower plane of these bytes.
template <class V, int low_bytes>
SLUICE_INLINE typename V::Float load_master(const AdamWArrays& a, std::int64_t i) {
    const auto high = V::template shift_left<16>(V::load_u16(a.high + i));
    if constexpr (low_bytes == 0) {
        return V::as_float(high);
    } else if constexpr (low_bytes == 1) {
        const auto low = V::load_i8(static_cast<const std::int8_t*>(a.low) + i);
        return V::as_float(V::plus(high, V::template shift_left<8>(low)));
    } else {
        const auto low = V::load_i16(static_cast<const std::uint16_t*>(a.low) + i);
        return V::as_float(V::plus(high, low));
    }
}
/// Cuts the bits that the planes have no room for.
template <class V, int low_bytes>
SLUICE_INLINE void store_master(const AdamWArrays& a, std::int64_t i, typename V::Bits bits) {
    if constexpr (low_bytes == 0) {
        V::store_16(a.high + i, V::template shift_right<16>(bits));
    } else {
        V::store_16(a.high + i, V::template shift_right<16>(V::plus(bits, V::set_bits(0x8000))));
        if constexpr (low_bytes == 1)
            V::store_8(static_cast<std::uint8_t*>(a.low) + i, V::template shift_right<8>(bits));
        else
            V::store_16(static_cast<std::uint16_t*>(a.low) + i, bits);
    }
}

/// The least bit of a master, which has 16 or 8 bits less than an fp32 number.
template <int low_bytes>
inline constexpr std::uint32_t kLeastBit = std::uint32_t{1} << (16 - 8 * low_bytes);

/// Random bits below the least bit of a master. Whether a moment is rounded up depends on the upper
/// ones of its 16 random bits (moment_codes.h), so these are the lower ones of both.
template <class V, int low_bytes>
SLUICE_INLINE typename V::Bits random_below_master(const AdamWArrays& a, std::int64_t i) {
    const auto random = random_bits<V>(a, i);
    const auto of_first = V::bits_and(random, V::set_bits(0xff));
    if constexpr (low_bytes == 1) {
        return of_first;
    } else {
        const auto second = V::bits_and(V::template shift_right<8>(random), V::set_bits(0xff00));
        return V::plus(of_first, second);
    }
}

/// Zero for magnitudes below the least normal number. Otherwise the moments of embedding rows that
/// no token uses would decay into denormals and stay there. Intel processors compute with those
/// only through slow microcode assists; on an EPYC 9004 they cost nothing.
template <class V>
SLUICE_INLINE typename V::Float without_denormals(typename V::Float x) {
    return V::if_less(V::absolute(x), V::set(FLT_MIN), V::set(0), x);
}

/// The new moments, from those in memory; see UpdatePass.
template <class V, UpdatePass pass>
SLUICE_INLINE Moments<V> next_moments(const AdamWConstants& k, Moments<V> old,
                                      typename V::Float gradient) {
    Moments<V> next;
    if constexpr (pass == UpdatePass::redo) {
        next.first = V::fma(V::set(k.redo_first), gradient, old.first);
        const auto least = V::mul(V::mul(V::set(k.second_atleast), gradient), gradient);
        const auto change = V::mul(V::set(k.redo_second), gradient);
        next.second = V::larger(V::fma(change, gradient, old.second), least);
    } else {
        const auto g = V::mul(V::set(k.gradient_scale), gradient);
        next.first = V::fma(V::set(k.beta1), old.first, V::mul(V::set(k.one_minus_beta1), g));
        const auto square = V::mul(V::mul(V::set(k.one_minus_beta2), g), g);
        next.second = V::fma(V::set(k.beta2), old.second, square);
    }
    return {without_denormals<V>(next.first), without_denormals<V>(next.second)};
}

/// Moves the parameters by the moments; `root` is the square root of the second moment. Rewinding
/// computes the same `change`, so it differs only by what the two sums and products rounded off.
/// A master of less than 32 bits is rounded up, away from zero, with the probability of the part
/// that is cut off. The same random bits say in which range, as wide as its least bit, the number
/// was that was rounded to it; rewinding begins in the middle of that range and rounds to nearest.
template <class V, int low_bytes, UpdatePass pass>
SLUICE_INLINE void move_parameters(const AdamWConstants& k, const AdamWArrays& a, std::int64_t i,
                                   typename V::Float first, typename V::Float root) {
    const auto denominator = V::fma(root, V::set(k.inverse_root_correction2), V::set(k.epsilon));
    const auto change = V::mul(V::set(k.step_size), V::div(first, denominator));
    const auto master = load_master<V, low_bytes>(a, i);
    const auto keep = V::set(k.keep);
    if constexpr (low_bytes == 2 && pass == UpdatePass::rewind) {
        store_master<V, 2>(a, i, V::as_bits(V::div(V::add(master, change), keep)));
    } else if constexpr (low_bytes == 2) {
        store_master<V, 2>(a, i, V::as_bits(V::fms(master, keep, change)));
    } else if constexpr (pass == UpdatePass::rewind) {
        const auto half = V::set_bits(kLeastBit<low_bytes> / 2);
        const auto random = random_below_master<V, low_bytes>(a, i);
        const auto middle = V::as_float(V::minus(V::plus(V::as_bits(master), half), random));
        // Near zero, the range would reach beyond it.
        const auto after = V::if_less(V::absolute(master), V::set(FLT_MIN), master, middle);
        const auto before = V::div(V::add(after, change), keep);
        store_master<V, low_bytes>(a, i, V::plus(V::as_bits(before), half));
    } else {
        const auto bits = V::as_bits(V::fms(master, keep, change));
        store_master<V, low_bytes>(a, i, V::plus(bits, random_below_master<V, low_bytes>(a, i)));
    }
}

/// One vector of elements whose moments are fp32 or bf16.
template <class V, class Format, UpdatePass pass>
SLUICE_INLINE void adamw_vector(const AdamWConstants& k, const AdamWArrays& a, std::int64_t i) {
    Moments<V> moments = Format::load(a, i);
    if constexpr (pass != UpdatePass::rewind) {
        moments = next_moments<V, pass>(k, moments, load_gradient<V>(a, i));
        moments = pass == UpdatePass::parameters ? Format::rounded(a, i, moments)
                                                 : Format::store(a, i, moments);
    }
    if constexpr (pass != UpdatePass::moments)
        move_parameters<V, 2, pass>(k, a, i, moments.first, V::sqrt(moments.second));
}

/// kMomentBlock elements whose moments are 8-bit codes with one scale for all of them.
template <class V, int low_bytes, UpdatePass pass>
void adamw_block(const AdamWConstants k, const AdamWArrays a, std::int64_t begin) {
    const std::int64_t end = begin + kMomentBlock;
    const std::int64_t block = begin / kMomentBlock;
    if constexpr (pass != UpdatePass::rewind) {
        alignas(64) float first[kMomentBlock];
        alignas(64) float second[kMomentBlock];
        auto largest_first = V::set(0), largest_second = V::set(0);
        for (std::int64_t i = begin; i < end; i += V::kWidth) {
            const auto root = load_root_code<V>(a, i, a.second_scale[block]);
            const Moments<V> old = {load_first_code<V>(a, i, a.first_scale[block]),
                                    V::mul(root, root)};
            const auto next = next_moments<V, pass>(k, old, load_gradient<V>(a, i));
            V::store(first + (i - begin), next.first);
            V::store(second + (i - begin), next.second);
            largest_first = V::larger(V::absolute(next.first), largest_first);
            largest_second = V::larger(next.second, largest_second);
        }
        const CodeScales inverse = store_scales<V>(a, block, V::largest_lane(largest_first),
                                                   V::largest_lane(largest_second));
        for (std::int64_t i = begin; i < end; i += V::kWidth)
            store_codes<V>(a, i, inverse,
                           {V::load(first + (i - begin)), V::load(second + (i - begin))});
    }
    for (std::int64_t i = begin; i < end; i += V::kWidth)
        move_parameters<V, low_bytes, pass>(k, a, i, load_first_code<V>(a, i, a.first_scale[block]),
                                            load_root_code<V>(a, i, a.second_scale[block]));
}

/// Fewer elements than `body` works on: `body` gets a copy padded with zeros, so that nothing
/// beyond the arrays is read and the arithmetic is the same. Values that `pass` does not change are
/// not written: a copy to the device may read it meanwhile.
template <UpdatePass pass, class Body>
void adamw_tail(const AdamWArrays& a, int low_bytes, int moment_bytes, std::int64_t count,
                const Body& body) {
    std::uint16_t high[kMomentBlock] = {}, low[kMomentBlock] = {}, bf16[kMomentBlock] = {};
    float fp32[kMomentBlock] = {}, first[kMomentBlock] = {}, second[kMomentBlock] = {};
    const auto elements = static_cast<std::size_t>(count);
    const std::size_t lows = elements * static_cast<std::size_t>(low_bytes);
    const std::size_t moments = elements * static_cast<std::size_t>(moment_bytes);
    AdamWArrays copy = a;
    std::memcpy(copy.high = high, a.high, 2 * elements);
    copy.low = low;
    if (lows > 0) std::memcpy(low, a.low, lows);
    std::memcpy(copy.first = first, a.first, moments);
    std::memcpy(copy.second = second, a.second, moments);
    if (a.gradient_bf16 != nullptr) {
        std::memcpy(bf16, a.gradient_bf16, 2 * elements);
        copy.gradient_bf16 = bf16;
    }
    if (a.gradient_fp32 != nullptr) {
        std::memcpy(fp32, a.gradient_fp32, 4 * elements);
        copy.gradient_fp32 = fp32;
    }
    body(copy);
    if constexpr (pass != UpdatePass::moments) {
        std::memcpy(a.high, high, 2 * elements);
        if (lows > 0) std::memcpy(a.low, low, lows);
    }
    if constexpr (pass != UpdatePass::parameters) {
        std::memcpy(a.first, first, moments);
        std::memcpy(a.second, second, moments);
    }
}

/// Asks for the memory of `count` elements that come V::kAhead later. Not worth it for 8-bit
/// moments: eight pairs of measurements were 8% slower to 9% faster.
template <class V, UpdatePass pass>
SLUICE_INLINE void prefetch(const AdamWArrays& a, std::int64_t i, std::int64_t count,
                            int moment_bytes) {
    if constexpr (V::kAhead == 0) return;
    constexpr std::int64_t kLine = 64;
    const auto lines = [&](const void* from, int bytes) {
        if (from == nullptr) return;
        const auto* at = static_cast<const char*>(from) + bytes * (i + V::kAhead);
        for (std::int64_t line = 0; line < bytes * count; line += kLine)
            __builtin_prefetch(at + line);
    };
    if constexpr (pass != UpdatePass::moments) {
        lines(a.high, 2);
        lines(a.low, 2);
    }
    lines(a.first, moment_bytes);
    lines(a.second, moment_bytes);
    if constexpr (pass != UpdatePass::rewind) lines(a.gradient_bf16, 2);
}

/// Constants and arrays by value, here and in adamw_block(). Otherwise the loop's stores could
/// change them, so it would load all of them again for each vector.
template <class V, class Format, UpdatePass pass>
void adamw_vectors(const AdamWConstants k, const AdamWArrays a, std::int64_t count) {
    constexpr std::int64_t kGroup = 32;  // a line of what has 2 bytes an element
    const std::int64_t whole = count - count % V::kWidth, groups = count - count % kGroup;
    for (std::int64_t i = 0; i < groups; i += kGroup) {
        prefetch<V, pass>(a, i, kGroup, Format::kBytes);
#pragma GCC unroll 2
        for (std::int64_t j = i; j < i + kGroup; j += V::kWidth)
            adamw_vector<V, Format, pass>(k, a, j);
    }
    for (std::int64_t i = groups; i < whole; i += V::kWidth) adamw_vector<V, Format, pass>(k, a, i);
    if (whole == count) return;
    adamw_tail<pass>(from_element(a, whole, 2, Format::kBytes), 2, Format::kBytes, count - whole,
                     [&](const AdamWArrays& tail) { adamw_vector<V, Format, pass>(k, tail, 0); });
}

template <class V, int low_bytes, UpdatePass pass>
void adamw_blocks(const AdamWConstants& k, const AdamWArrays& a, std::int64_t count) {
    const std::int64_t whole = count - count % kMomentBlock;
    for (std::int64_t i = 0; i < whole; i += kMomentBlock) adamw_block<V, low_bytes, pass>(k, a, i);
    if (whole == count) return;
    adamw_tail<pass>(from_element(a, whole, low_bytes, 1), low_bytes, 1, count - whole,
                     [&](const AdamWArrays& tail) { adamw_block<V, low_bytes, pass>(k, tail, 0); });
}

/// The loop of the precision in this row of kStatePrecisions or a later one.
template <class V, UpdatePass pass, std::size_t row = 0>
void adamw_pass(int state_bytes, const AdamWConstants& k, const AdamWArrays& a,
                std::int64_t count) {
    constexpr StatePrecision precision = kStatePrecisions[row];
    if (state_bytes != precision.bytes) {
        if constexpr (row + 1 < kStatePrecisions.size())
            adamw_pass<V, pass, row + 1>(state_bytes, k, a, count);
    } else if constexpr (precision.has_scales()) {
        if constexpr (pass != UpdatePass::parameters && pass != UpdatePass::moments)
            adamw_blocks<V, precision.low_bytes, pass>(k, a, count);
    } else if constexpr (precision.moment_bytes == 2) {
        adamw_vectors<V, Bf16Moments<V>, pass>(k, a, count);
    } else {
        adamw_vectors<V, Fp32Moments<V>, pass>(k, a, count);
    }
}

/// The whole implementation for the instruction set of V.
template <class V>
void adamw_kernel(UpdatePass pass, int state_bytes, const AdamWConstants& k, const AdamWArrays& a,
                  std::int64_t count) {
    switch (pass) {
        case UpdatePass::update:
            return adamw_pass<V, UpdatePass::update>(state_bytes, k, a, count);
        case UpdatePass::parameters:
            return adamw_pass<V, UpdatePass::parameters>(state_bytes, k, a, count);
        case UpdatePass::moments:
            return adamw_pass<V, UpdatePass::moments>(state_bytes, k, a, count);
        case UpdatePass::rewind:
            return adamw_pass<V, UpdatePass::rewind>(state_bytes, k, a, count);
        case UpdatePass::redo:
            return adamw_pass<V, UpdatePass::redo>(state_bytes, k, a, count);
    }
}

}  // namespace sluice
