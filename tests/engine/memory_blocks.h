// Memory for the sections of a store that no plan has placed.
#pragma once

#include <vector>

#include "engine/layers/workspace.h"
#include "engine/memory/parameter_store.h"
#include "sim/plan/schedules/streamed_buffers.h"

namespace sluice {

class MemoryBlocks {
  public:
    MemoryBlocks(const ModelSpec& model, int state_bytes)
        : staging_(static_cast<std::size_t>(kStaging)) {
        for (const std::int64_t size : section_sizes(model)) {
            const Bytes bytes = (state_bytes + 1) * size + 6 * kPartAlignment;
            std::vector<char>& memory = memories_.emplace_back(static_cast<std::size_t>(bytes));
            Workspace parts(memory.data(), bytes);
            blocks_.push_back(placed_block(size, state_bytes, [&](Bytes part) {
                return static_cast<char*>(parts.take(part));
            }));
        }
    }
    const std::vector<ParameterBlock>& blocks() const { return blocks_; }
    /// Bit i of `resident`: section i is on the device.
    std::vector<bool> on_device(unsigned resident = 0) const {
        std::vector<bool> out;
        for (std::size_t i = 0; i < blocks_.size(); ++i) out.push_back((resident >> i & 1U) != 0);
        return out;
    }
    char* staging() { return staging_.data(); }

  private:
    std::vector<std::vector<char>> memories_;
    std::vector<ParameterBlock> blocks_;
    std::vector<char> staging_;
};

}  // namespace sluice
