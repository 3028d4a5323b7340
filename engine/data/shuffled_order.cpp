#include "engine/data/shuffled_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/base/input_error.h"
#include "sim/base/mixed_bits.h"

namespace sluice {

ShuffledOrder::ShuffledOrder(std::int64_t count, std::uint64_t key)
    : count_(static_cast<std::uint64_t>(count)), key_(key) {
    if (count < 1 || count > std::int64_t{1} << 62) {
        throw InternalError(fmt::format("shuffled order of {} entries", count));
    }
    half_bits_ = std::max(1, (static_cast<int>(std::bit_width(count_ - 1)) + 1) / 2);
}

std::uint64_t ShuffledOrder::permute_square(std::uint64_t value) const {
    // Four rounds are pseudorandom for large halves; halves of a few bits need more.
    constexpr std::uint64_t kRounds = 8;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t changed = left ^ (mixed_bits(mixed_bits(key_ + round) ^ right) & mask);
        left = right;
        right = changed;
    }
    return (left << half_bits_) | right;
}

std::int64_t ShuffledOrder::operator()(std::int64_t index) const {
    std::uint64_t value = permute_square(static_cast<std::uint64_t>(index));
    while (value >= count_) value = permute_square(value);
    return static_cast<std::int64_t>(value);
}

}  // namespace sluice
