// Are the rows of a table in the order of the values that they describe?
#pragma once

#include <cstddef>

namespace sluice {

template <typename Row, std::size_t Count, typename Of>
constexpr bool in_order(const Row (&rows)[Count], Of Row::*of) {
    for (std::size_t i = 0; i < Count; ++i)
        if (static_cast<std::size_t>(rows[i].*of) != i) return false;
    return true;
}

}  // namespace sluice
