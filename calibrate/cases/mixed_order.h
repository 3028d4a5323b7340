// In which order is a list measured, so that drift is no pattern?
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/mixed_bits.h"

namespace sluice {

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
