// What does a plan run on? Memory, lanes that copy and compute in order, events between them. Two
// implementations: cpu_device (anywhere) and cuda_device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "sim/base/units.h"
#include "sim/plan/step_program.h"

namespace sluice {

using EventId = std::int32_t;

/// What the device and its driver say of themselves.
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
    /// What is enqueued on the lane from now on waits for the event. Precondition: it was recorded.
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

}  // namespace sluice
