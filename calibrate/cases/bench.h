// With which tools does a case measure? The device and its memory, the host's threads, and its time
// limits.
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

/// One measurement of work on the compute lane.
struct Timing {
    Seconds warm_up = 0.03;  ///< at least, and at least two calls
    Seconds group = 0.008;   ///< calls are timed in groups of at least this long
    int groups = 7;          ///< fewer, but 3 or more, if calls are longer than 2.5 groups
    /// Enqueues work on the compute lane before each group, which is not timed; may be empty. It
    /// gives the host a lead, since the host takes longer to enqueue a short call than a GPU to run
    /// it. It also keeps the clock as in training, and restores operands that calls change in
    /// place.
    std::function<void()> before_group = {};
};

/// Number and size of groups for calls of this duration.
struct CallGroups {
    std::int64_t warm_up_calls = 0;
    std::int64_t calls = 1;  ///< in a group
    int groups = 1;
};
CallGroups group_calls(const Timing& timing, Seconds seconds_a_call);

/// Seconds of one call of `enqueue(call)`, call = 0, 1, 2, ... (so that each can use other memory),
/// which enqueues work on the device's compute lane. Groups are enqueued one after another without
/// waiting and are timed by events. Uses the device's events from 0 on.
Sample time_on_compute_lane(Device& device, const Timing& timing,
                            const std::function<void(std::int64_t)>& enqueue);

/// Rows and columns of the matrices of large products.
inline constexpr std::int64_t kLargeSize = 8192;

/// One for all cases. `device` has its arena. After fill_arena() all of it except the kernels'
/// workspace has random normal numbers of deviation 1, since zeros and NaN make a GPU up to 20%
/// faster than in training. Read as bf16 or as fp32 they are such numbers.
struct Bench {
    Device& device;
    DeviceFacts device_facts;
    HostFacts host;
    DType activations = DType::bf16;   ///< bf16 on a GPU, fp32 on the CPU, as in sluice-train
    int optimizer_threads = 1;         ///< the most threads that Adam is measured with
    int compute_threads = 1;           ///< of the CPU's kernels, without a GPU
    char* arena = nullptr;             ///< device memory
    Bytes arena_bytes = 0;             ///< without the kernels' workspace
    bool quick = false;                ///< fewer shapes and shorter repeats: 40 s in all
    std::string storage_folder = ".";  ///< a folder on the measured disk

    /// Called by a case with its progress, 0 to 1; may be empty.
    std::function<void(double share)> progress = {};
    /// The time of one product of enqueue_large_products(); 0 without a GPU.
    Seconds large_product = 0;
    /// Host memory of random bf16 numbers, which the arena is filled from.
    const std::vector<std::uint16_t>* random = nullptr;

    /// Bytes [offset, offset + bytes) of the arena. InternalError if it is too small.
    char* at(Bytes offset, Bytes bytes) const;
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

/// A device with its arena, and its bench.
struct BenchMachine {
    std::unique_ptr<Device> device;
    std::vector<std::uint16_t> random;
    std::unique_ptr<Bench> bench;
};

/// Allocates the arena (24 GB, or 60% of a smaller GPU's memory and 90% of the free part; without a
/// GPU 1.5 GB, or 10% of host memory), fills it, and attaches the calling thread to the device.
/// Throws InputError if other programs use the device's memory.
std::unique_ptr<BenchMachine> make_bench(std::unique_ptr<Device> device, HostFacts host,
                                         const BenchSettings& settings);

/// Fills the arena again, before a case that depends on its contents.
void fill_arena(Bench& bench);
/// The same for bytes [offset, offset + bytes) only.
void fill_arena(Bench& bench, Bytes offset, Bytes bytes);

/// Throws InternalError unless the first `count` numbers at `data`, in device memory, are finite.
/// Waits for the compute lane.
void require_finite(Bench& bench, const char* what, const void* data, DType type,
                    std::int64_t count);

/// Enqueues large products, which draw the most power, on the compute lane for about that long.
/// Without a GPU: nothing.
void enqueue_large_products(Bench& bench, Seconds seconds);

struct Case {
    const char* name;      ///< the name for --only
    const char* question;  ///< "How fast are copies to the device, by size?"
    Seconds seconds;       ///< about, on an H200; for the time left
    Seconds quick_seconds;
    /// Fills tables and warnings. If the machine lacks something (a second GPU), there is no table.
    void (*run)(Bench&, CaseRecord&);
};

// In <name>_case.cpp or <name>_cases.cpp.
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
void measure_fp8(Bench& bench, CaseRecord& record);
void measure_power(Bench& bench, CaseRecord& record);
void measure_gpu_interconnect(Bench& bench, CaseRecord& record);

/// In the order in which they run.
const std::vector<Case>& all_cases();

}  // namespace sluice
