// What does a case measure with? The device and its memory, the host's threads, and how long it may
// take.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "engine/optimizer/thread_pool.h"

namespace sluice {

/// One measurement of something that the compute lane does.
struct Timing {
    Seconds warm_up = 0.03;  ///< at least, and at least two calls
    Seconds group = 0.008;   ///< calls are timed in groups of at least so long
    int groups = 7;          ///< fewer, but 3 or more, where calls are longer than 2.5 groups
    /// Enqueues work on the compute lane before each group, which is not timed; may be empty. It
    /// puts the host, which takes longer to enqueue a short call than a GPU to do it, ahead; keeps
    /// the clock where training has it; restores what calls change in place.
    std::function<void()> before_group = {};
};

/// How calls of so many seconds are grouped.
struct CallGroups {
    std::int64_t warm_up_calls = 0;
    std::int64_t calls = 1;  ///< in a group
    int groups = 1;
};
CallGroups group_calls(const Timing& timing, Seconds seconds_a_call);

/// Seconds of one call of `enqueue(call)`, call = 0, 1, 2, ... (so that it can take other memory
/// each time), which enqueues work on the compute lane of the device. Groups are enqueued one after
/// another without waiting and timed by events. Takes the device's events from 0 on.
Sample time_on_compute_lane(Device& device, const Timing& timing,
                            const std::function<void(std::int64_t)>& enqueue);

/// Rows and columns of the matrices of large products.
inline constexpr std::int64_t kLargeSize = 8192;

/// One for all cases. `device` has its arena; all of it but the kernels' workspace is full of
/// random normal numbers of deviation 1 after fill_arena(): zeros and NaN make a GPU up to 20%
/// faster than training is. Read as bf16 or as fp32 they are such numbers.
struct Bench {
    Device& device;
    DeviceFacts device_facts;
    HostFacts host;
    DType activations = DType::bf16;   ///< bf16 on a GPU, fp32 on the CPU, as sluice-train chooses
    int optimizer_threads = 1;         ///< the most that Adam is measured with
    int compute_threads = 1;           ///< of the CPU's kernels, without a GPU
    char* arena = nullptr;             ///< device memory
    Bytes arena_bytes = 0;             ///< without the kernels' workspace
    bool quick = false;                ///< fewer shapes, shorter repeats: the whole in 30 s
    std::string storage_folder = ".";  ///< whose disk is measured

    /// Told by a case how far it is, 0 to 1; may be empty.
    std::function<void(double share)> progress = {};
    /// The time of one product of enqueue_large_products(); 0 without a GPU.
    Seconds large_product = 0;
    /// Host memory of random bf16 numbers, which the arena is filled from.
    const std::vector<std::uint16_t>* random = nullptr;

    /// Bytes [offset, offset + bytes) of the arena. InternalError where it is too small.
    char* at(Bytes offset, Bytes bytes) const;
    /// Calls `progress` where there is one.
    void report(double share) const;
    void report(std::size_t done, std::size_t all) const {
        report(static_cast<double>(done) / static_cast<double>(all));
    }
};

struct BenchSettings {
    int optimizer_threads = 1;
    int compute_threads = 1;
    bool quick = false;
    std::string storage_folder = ".";
};

/// A device with its arena, and the bench on it.
struct BenchMachine {
    std::unique_ptr<Device> device;
    std::vector<std::uint16_t> random;
    std::unique_ptr<Bench> bench;
};

/// Allocates the arena (24 GB, or 60% of a smaller GPU's memory and 90% of what is free; without a
/// GPU 1.5 GB, or 10% of host memory), fills it, and attaches the calling thread to the device.
/// Throws InputError where the device's memory is taken by others.
std::unique_ptr<BenchMachine> make_bench(std::unique_ptr<Device> device, HostFacts host,
                                         const BenchSettings& settings);

/// Fills the arena again: a case does so before it depends on what is there.
void fill_arena(Bench& bench);
/// The same for bytes [offset, offset + bytes) only.
void fill_arena(Bench& bench, Bytes offset, Bytes bytes);

/// Throws InternalError unless the first `count` numbers at `data`, in device memory, are finite.
/// Waits for the compute lane.
void require_finite(Bench& bench, const char* what, const void* data, DType type,
                    std::int64_t count);

/// Enqueues large products on the compute lane, for about so long: what draws most power. Without a
/// GPU: nothing.
void enqueue_large_products(Bench& bench, Seconds seconds);

/// A case: one careful measurement.
struct Case {
    const char* name;      ///< what --only takes
    const char* question;  ///< "How fast are copies to the device, by size?"
    Seconds seconds;       ///< about, on an H200; for the time left
    Seconds quick_seconds;
    /// Fills tables and warnings. What the machine lacks (a second GPU) is a warning that says so,
    /// and no table.
    void (*run)(Bench&, CaseRecord&);
};

// <name>_case.cpp or <name>_cases.cpp has it.
void measure_copies(Bench& bench, CaseRecord& record);
void measure_host_memory(Bench& bench, CaseRecord& record);
void measure_adam(Bench& bench, CaseRecord& record);
void measure_mixed_load(Bench& bench, CaseRecord& record);
void measure_numa(Bench& bench, CaseRecord& record);
void measure_storage(Bench& bench, CaseRecord& record);
void measure_launch(Bench& bench, CaseRecord& record);
void measure_device_copy(Bench& bench, CaseRecord& record);
void measure_gemm(Bench& bench, CaseRecord& record);
void measure_attention(Bench& bench, CaseRecord& record);
void measure_memory_bound(Bench& bench, CaseRecord& record);
void measure_clock(Bench& bench, CaseRecord& record);
void measure_power(Bench& bench, CaseRecord& record);
void measure_gpu_interconnect(Bench& bench, CaseRecord& record);

/// In the order in which they run.
const std::vector<Case>& all_cases();

}  // namespace sluice
