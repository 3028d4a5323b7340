// On which device does a plan run? A device has memory, lanes that copy and compute in order, and
// events between them. There are two implementations for training: host_memory_device (anywhere)
// and cuda_device. make_device() makes the one that a command line names.
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
    bool has_fp8 = false;                 ///< matrix products in FP8; the processor emulates them
    bool has_document_attention = false;  ///< within the planned memory; the processor has it, too
    bool has_expert_products = false;     ///< likewise
    Bytes memory_capacity = 0;
    Bytes context = 0;        ///< used by driver and libraries before the arena
    int numa_node = -1;       ///< of the nearest host memory; -1: not known
    int multiprocessors = 0;  ///< 0 without a GPU
};

/// Lanes are host_to_device, compute and device_to_host; one thread uses each lane at a time.
class Device {
  public:
    virtual ~Device() = default;

    virtual DeviceFacts facts() const = 0;
    /// Memory in use on the device by all programs, as the driver reports it.
    virtual Bytes memory_in_use() const = 0;

    /// Makes the calling thread able to use the device.
    virtual void attach_thread() = 0;

    /// Allocates the arena, once. Kernels get `workspace_bytes` of it at `workspace_offset`. The
    /// arena's bytes are zero.
    virtual char* allocate_arena(Bytes bytes, Bytes workspace_offset, Bytes workspace_bytes) = 0;
    virtual Kernels& kernels() = 0;
    /// Computes products; null on a device that computes nothing. Others may lack kernels().
    virtual Products* products() { return &kernels(); }

    /// Page-locks host memory, which makes copies fast, until release_host().
    virtual void register_host(void* memory, Bytes bytes) = 0;
    virtual void release_host(void* memory) = 0;

    virtual void copy(Work work, void* to, const void* from, Bytes bytes) = 0;
    /// Copies sums to which kernels may be adding: each number as it is before or after that.
    virtual void copy_sums(Work work, StepSums* to, StepSums* from) {
        copy(work, to, from, sizeof(StepSums));
    }

    /// Blocks until all enqueued work is done; never throws.
    virtual void finish_all() = 0;

    virtual void create_events(int count) = 0;
    /// Enqueues the event on the lane: it happens when all earlier work on the lane is done.
    virtual void record(Work work, EventId event) = 0;
    /// Later work on the lane waits for the event. Precondition: it was recorded.
    virtual void wait(Work work, EventId event) = 0;
    /// Blocks the calling thread until the event has happened.
    virtual void synchronize(EventId event) = 0;
    /// The time of the event, in seconds of the clock of host_seconds(). Precondition:
    /// synchronized.
    virtual Seconds time_of(EventId event) = 0;
    /// Adjusts time_of() to the host's clock again, for events of the last minutes.
    virtual void align_clocks() = 0;
};

Seconds host_seconds();

/// Ordinary memory as device memory, with these kernels or none.
std::unique_ptr<Device> make_host_memory_device(std::unique_ptr<Kernels> kernels);

/// The same with kernels of libtorch, whose operators use that many threads.
std::unique_ptr<Device> make_cpu_device(int threads);

/// The CUDA device, if the program was built with CUDA. Throws InputError if there is no usable
/// GPU.
std::unique_ptr<Device> make_cuda_device(int ordinal);
bool built_with_cuda();

/// `name` is auto (the first GPU, or else the CPU), cpu, cuda or cuda:N. `cpu_threads`: for the
/// CPU's kernels; 0: default_cpu_threads(). Throws InputError if the name is none of these or means
/// a GPU that cannot be used.
std::unique_ptr<Device> make_device(const std::string& name, int cpu_threads,
                                    const HostFacts& host);

/// Half the CPUs; the others are for the optimizer.
int default_cpu_threads(const HostFacts& host);

/// GPUs that CUDA shows to this process; 0 in a build without CUDA.
int gpu_count();

/// PCI address of a GPU, "0000:1B:00.0"; "" if there is none with that number.
std::string gpu_bus_id(int ordinal);
/// Bus id of the GPU that the calling thread is attached to (Device::attach_thread); "" without
/// CUDA.
std::string attached_gpu_bus_id();

}  // namespace sluice
