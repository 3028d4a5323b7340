// Which bytes of its buffer has each part that operations of our plan read and write, and so which
// bytes does a copy take from where to where?
#pragma once

#include <vector>

#include "sim/plan/schedules/streamed.h"

namespace sluice {

/// Bytes of one buffer.
struct BufferBlock {
    BufferId buffer = kNoBuffer;
    Bytes offset = 0, bytes = 0;
};
using BufferBlocks = std::vector<BufferBlock>;
/// The same number of bytes in both.
struct BlockCopy {
    BufferBlock from, to;
};

/// Sizes as the trainer stores them, with the gaps that its kernels leave between tensors.
struct StoredSizes {
    std::vector<std::int64_t> parameters;  ///< one a section
    std::vector<Bytes> codes;              ///< one a layer: its weights where they are not bf16
    std::vector<Bytes> kept;               ///< one a layer: what it keeps of a micro-batch
};

class StreamedParts {
  public:
    StreamedParts(const ModelSpec& model, const StreamedPlan& plan, const StoredSizes& sizes);

    /// The operation copies what it reads to what it writes, one block after another. Without the
    /// step's sums, which leave with gradients while kernels may be adding to them.
    std::vector<BlockCopy> copies(const Operation& operation) const;

    /// See BufferUse. A section's weights are one block, its states one for each array there is of
    /// StatePrecision::array_bytes(); both are parts 0 and 1 of a place on the device. Turns of
    /// what comes back or leaves have a block for each micro-batch of a copy.
    const BufferBlocks& part(BufferId id, std::int64_t part = 0) const {
        return parts_[static_cast<std::size_t>(id)][static_cast<std::size_t>(part)];
    }

  private:
    /// Adds a block to a part, behind all that the buffer has; kNoBuffer is ignored.
    void add(BufferId id, std::int64_t part, Bytes bytes, Bytes alignment = 1);
    /// Adds equal parts.
    void repeat(BufferId id, std::int64_t count, Bytes bytes, Bytes alignment = 1,
                std::int64_t blocks = 1);
    void place_sections(const StreamedPlan& plan, const StoredSizes& sizes);
    void place_others(const ModelSpec& model, const StreamedPlan& plan, const StoredSizes& sizes);

    std::vector<std::vector<BufferBlocks>> parts_;  ///< by buffer
    std::vector<Bytes> used_;                       ///< of each buffer
};

}  // namespace sluice
