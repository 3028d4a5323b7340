// How fast do GPUs of one machine copy to each other, and which GPU of the machine is this?
#pragma once

#include <memory>
#include <string>

#include "sim/base/units.h"

namespace sluice {

/// GPUs that CUDA shows to this process; 0 in a build without CUDA.
int gpu_count();

/// PCI address of a GPU, "0000:1B:00.0"; "" where there is none of that number.
std::string gpu_bus_id(int ordinal);
/// Bus id of the GPU that the calling thread is attached to (Device::attach_thread); "" without
/// CUDA.
std::string attached_gpu_bus_id();

/// Copies between memory of two GPUs, for measuring.
class PeerCopy {
  public:
    virtual ~PeerCopy() = default;
    /// Whether the GPUs reach each other's memory; else copies pass through host memory.
    virtual bool is_direct() const = 0;
    /// Seconds that `copies` copies of `bytes` one after another take from the first to the second,
    /// and at the same time as many back where `both_ways`. Precondition: bytes at most those of
    /// make_peer_copy().
    virtual Seconds time(Bytes bytes, int copies, bool both_ways) = 0;
    /// Whether `bytes` bytes of the first GPU's pattern have arrived in the second's memory.
    virtual bool arrives(Bytes bytes) = 0;
};

/// Buffers of `bytes` on both GPUs, filled with bytes that differ. A multiple of
/// 8. Throws CudaError where the GPUs cannot be used or lack the memory, InternalError where there
/// are no two such GPUs. Leaves the calling thread attached to the GPU that it was.
std::unique_ptr<PeerCopy> make_peer_copy(int first, int second, Bytes bytes);

}  // namespace sluice
