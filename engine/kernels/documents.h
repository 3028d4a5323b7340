// Which tokens of a micro-batch belong together?
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace sluice {

/// Documents of a micro-batch, within which attention stays. None (the default): each sequence is
/// one.
struct Documents {
    /// (count + 1) on the device: the first token of each, ascending from 0, then all tokens. Each
    /// sequence begins one.
    const std::int32_t* begins = nullptr;
    std::int64_t count = 0;
    std::int64_t longest = 0;  ///< tokens; of those here or of more, but at most a sequence's
    bool present() const { return count > 0; }
};

/// Tokens of the longest, of first tokens and then their end.
inline std::int64_t longest_document(std::span<const std::int32_t> begins) {
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < begins.size(); ++i)
        longest = std::max<std::int64_t>(longest, begins[i] - begins[i - 1]);
    return longest;
}

}  // namespace sluice
