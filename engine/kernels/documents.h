// Which tokens of a micro-batch belong together?
#pragma once

#include <cstdint>

namespace sluice {

/// Documents of a micro-batch, within which attention stays. None (the default): each sequence is
/// one.
struct Documents {
    /// (count + 1) on the device: the first token of each, ascending from 0, then all tokens. Each
    /// sequence begins one.
    const std::int32_t* begins = nullptr;
    std::int64_t count = 0;
    bool present() const { return count > 0; }
};

}  // namespace sluice
