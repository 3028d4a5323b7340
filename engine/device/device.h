// What does a plan run on? Memory, lanes that copy and compute in order, events between them. Two
// implementations: cpu_device (anywhere) and cuda_device. And what does a name of the command line
// mean, and how fast do GPUs of one machine copy to each other?
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/kernels/kernels.h"
#include "engine/machine/host_facts.h"
#include "sim/base/units.h"
#include "sim/plan/step_program.h"

namespace sluice {

using EventId = std::int32_t;

/// The device, as its driver describes it.
struct DeviceFacts {
    std::string name;
    bool is_gpu = false;
    Bytes memory_capacity = 0;
    Bytes context = 0;        ///< taken by driver and libraries before the arena
    int numa_node = -1;       ///< of the host memory nearest to it; -1: not known
    int multiprocessors = 0;  ///< 0 without a GPU
};

/// Lanes are host_to_device, compute and device_to_host; each is used by one thread at a time.
class Device {
  public:
    virtual ~Device() = default;

    virtual DeviceFacts facts() const = 0;
    /// Memory in use on the device by all programs, as the driver reports it.
    virtual Bytes memory_in_use() const = 0;

    /// Makes the calling thread able to use the device.
    virtual void attach_thread() = 0;

    /// The arena, once; kernels get `workspace_bytes` of it at `workspace_offset`.
    /// The arena's bytes are zero.
    virtual char* allocate_arena(Bytes bytes, Bytes workspace_offset, Bytes workspace_bytes) = 0;
    virtual Kernels& kernels() = 0;

    /// Makes host memory fast to copy from and to (page-locked); until release_host().
    virtual void register_host(void* memory, Bytes bytes) = 0;
    virtual void release_host(void* memory) = 0;

    /// Enqueues a copy on a copy lane.
    virtual void copy(Lane lane, void* to, const void* from, Bytes bytes) = 0;

    /// Blocks until all that is enqueued is done; never throws.
    virtual void finish_all() = 0;

    virtual void create_events(int count) = 0;
    /// Enqueues the event on the lane: it happens when all before it on the lane is done.
    virtual void record(Lane lane, EventId event) = 0;
    /// Later work on the lane waits for the event. Precondition: it was recorded.
    virtual void wait(Lane lane, EventId event) = 0;
    /// Blocks the calling thread until the event has happened.
    virtual void synchronize(EventId event) = 0;
    /// When the event happened, in seconds of the clock of host_seconds(). Precondition:
    /// synchronized.
    virtual Seconds time_of(EventId event) = 0;
    /// Ties time_of() to the host's clock again, for events of the last minutes.
    virtual void align_clocks() = 0;
};

/// Seconds of a steady clock.
Seconds host_seconds();

/// Threads of libtorch's operators.
std::unique_ptr<Device> make_cpu_device(int threads);

/// Where the program was built with CUDA. Throws InputError where there is no usable GPU.
std::unique_ptr<Device> make_cuda_device(int ordinal);
bool built_with_cuda();

/// `name` is auto (the first GPU, or else the CPU), cpu, cuda or cuda:N. `cpu_threads`: of the
/// CPU's kernels; 0: default_cpu_threads(). Throws InputError where the name is none of them or
/// means a GPU that cannot be used.
std::unique_ptr<Device> make_device(const std::string& name, int cpu_threads,
                                    const HostFacts& host);

/// Half the CPUs: the others are the optimizer's.
int default_cpu_threads(const HostFacts& host);

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
