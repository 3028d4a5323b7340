// Which few of many shapes stand for all, and in which order are they measured?
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/mixed_bits.h"

namespace sluice {

/// Sizes of a kernel, all 0 or more.
using ShapeSize = std::vector<std::int64_t>;

/// `count` of the candidates, or all; equal ones count as one. Each next is the one that most
/// lowers the mean squared distance from all candidates to the nearest chosen one, so the first few
/// are the best few; but every third is the one farthest from those chosen, so that the ends are
/// reached. Distance counts 1 for twice a size; a size of 0 is taken as half of 1.
std::vector<ShapeSize> spread_evenly(std::vector<ShapeSize> candidates, std::size_t count);

/// The same items in an order without pattern: heat and what else changes over a minute then looks
/// like noise, not like a shape, and those held out meet the same machine as the others.
template <typename Item>
std::vector<Item> in_mixed_order(std::vector<Item> items) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(mixed_bits(i), i);
    std::sort(order.begin(), order.end());
    std::vector<Item> out;
    for (const auto& [key, index] : order) out.push_back(std::move(items[index]));
    return out;
}

}  // namespace sluice
