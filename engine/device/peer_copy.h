// How fast are copies between two GPUs of one machine?
#pragma once

#include <memory>

#include "sim/base/units.h"

namespace sluice {

/// Copies between the memories of two GPUs, for measuring.
class PeerCopy {
  public:
    virtual ~PeerCopy() = default;
    /// Whether the GPUs reach each other's memory; else copies pass through host memory.
    virtual bool is_direct() const = 0;
    /// Seconds of `copies` consecutive copies of `bytes` from the first to the second GPU, and with
    /// `both_ways` of as many in the other direction at the same time. Precondition: bytes at most
    /// those of make_peer_copy().
    virtual Seconds time(Bytes bytes, int copies, bool both_ways) = 0;
    /// Whether `bytes` bytes of the first GPU's pattern have arrived in the second's memory.
    virtual bool arrives(Bytes bytes) = 0;
};

/// Buffers of `bytes` on both GPUs, filled with different bytes. `bytes` is a multiple of 8. Throws
/// CudaError if the GPUs cannot be used or lack the memory, InternalError if there are no two such
/// GPUs. The calling thread stays attached to its GPU.
std::unique_ptr<PeerCopy> make_peer_copy(int first, int second, Bytes bytes);

}  // namespace sluice
