#include "calibrate/cases/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/base/mixed_bits.h"
#include "sim/base/units.h"
#include "sim/plan/schedules/streamed_buffers.h"

namespace sluice {
namespace {

/// The host takes 3 to 15 us to enqueue a kernel.
constexpr Seconds kShortCall = 20e-6;
/// CUDA lets some 1000 operations wait in a stream; then the host waits too.
constexpr std::int64_t kCallsAhead = 700;

std::int64_t calls_in(Seconds seconds, Seconds seconds_a_call) {
    return static_cast<std::int64_t>(std::ceil(seconds / seconds_a_call));
}

/// Calls with consecutive numbers, and the time between two events.
class Calls {
  public:
    Calls(Device& device, const std::function<void(std::int64_t)>& enqueue)
        : device_(device), enqueue_(enqueue) {}

    void enqueue(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) enqueue_(next_++);
    }
    void record(EventId event) { device_.record(Work::compute, event); }
    /// Seconds per call of `count` calls, after waiting for them.
    Seconds time(std::int64_t count) {
        device_.align_clocks();
        record(0);
        enqueue(count);
        record(1);
        device_.synchronize(1);
        return std::max(1e-9, device_.time_of(1) - device_.time_of(0)) / static_cast<double>(count);
    }

  private:
    Device& device_;
    const std::function<void(std::int64_t)>& enqueue_;
    std::int64_t next_ = 0;
};

}  // namespace

CallGroups group_calls(const Timing& timing, Seconds seconds_a_call) {
    CallGroups out;
    // The number of calls that fits into the time of 20 groups, but at least 3.
    const double longest = 20 * timing.group / std::max(timing.group, seconds_a_call);
    out.groups = std::clamp(static_cast<int>(longest), std::min(3, timing.groups), timing.groups);
    out.warm_up_calls =
        calls_in(std::max(0.0, timing.warm_up - 2 * seconds_a_call), seconds_a_call);
    out.calls = std::max<std::int64_t>(1, calls_in(timing.group, seconds_a_call));
    if (timing.before_group && seconds_a_call < kShortCall) {
        out.calls = std::clamp<std::int64_t>(out.calls, 1, kCallsAhead / out.groups);
        out.warm_up_calls = std::min(out.warm_up_calls, kCallsAhead);
    }
    return out;
}

Sample time_on_compute_lane(Device& device, const Timing& timing,
                            const std::function<void(std::int64_t)>& enqueue) {
    device.create_events(std::max(2, 2 * timing.groups));
    Calls calls(device, enqueue);
    calls.time(1);  // the first call chooses an algorithm, compiles it and touches memory
    Seconds estimate = calls.time(1);
    if (estimate < timing.group / 8)
        estimate = calls.time(std::min<std::int64_t>(200, calls_in(timing.group / 4, estimate)));
    const CallGroups plan = group_calls(timing, estimate);
    if (timing.before_group) timing.before_group();
    calls.enqueue(plan.warm_up_calls);
    // Times are float milliseconds since this event: near it they are exact to 15 ns.
    device.align_clocks();
    for (int group = 0; group < plan.groups; ++group) {
        if (timing.before_group) timing.before_group();
        calls.record(2 * group);
        calls.enqueue(plan.calls);
        calls.record(2 * group + 1);
    }
    device.synchronize(2 * plan.groups - 1);
    std::vector<Seconds> seconds;
    for (int group = 0; group < plan.groups; ++group) {
        const Seconds group_seconds = device.time_of(2 * group + 1) - device.time_of(2 * group);
        seconds.push_back(group_seconds / static_cast<double>(plan.calls));
    }
    return summarize(seconds);
}

namespace {

constexpr Bytes kLeastArena = Bytes{256} << 20;
constexpr Bytes kGigabyte = 1'000'000'000;
// 64 MiB. Not a power of two, so that matrices at this distance differ; even, so that pairs read as
// fp32 stay pairs.
constexpr std::size_t kRandomNumbers = (std::size_t{1} << 25) + 4098;

std::uint16_t bf16_of(float value) {
    // Rounded to nearest; ties, which random numbers do not have, away from zero.
    return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + 0x8000U) >> 16);
}

/// Normal numbers of deviation 1, drawn from 65536 of them; bf16 does not have many more.
std::vector<std::uint16_t> random_numbers() {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::vector<std::uint16_t> distinct(std::size_t{1} << 16);
    for (std::uint16_t& value : distinct) value = bf16_of(normal(generator));
    std::vector<std::uint16_t> out(kRandomNumbers);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        bits = i % 4 == 0 ? mixed_bits(i) : bits >> 16;
        out[i] = distinct[bits & 0xFFFF];
    }
    return out;
}

Bytes share_of(double share, Bytes bytes) {
    return static_cast<Bytes>(share * static_cast<double>(bytes));
}

/// Including the kernels' workspace.
Bytes arena_size(const Device& device, const DeviceFacts& facts, const HostFacts& host) {
    Bytes bytes = 0, free = 0;
    if (facts.is_gpu) {
        free = facts.memory_capacity - device.memory_in_use();
        bytes =
            std::min({24 * kGigabyte, share_of(0.6, facts.memory_capacity), share_of(0.9, free)});
    } else {
        free = host_memory_capacity(host).value_or(facts.memory_capacity);
        bytes = std::min(3 * kGigabyte / 2, free / 10);
    }
    if (bytes < kLeastArena) {
        throw InputError(fmt::format(
            "{} has {:.1f} GiB of memory left, too little to measure kernels with (the arena would "
            "be {} MiB, expected {} or more); stop the other programs that use it",
            facts.name, static_cast<double>(free) / 1024 / static_cast<double>(kMiB), bytes / kMiB,
            kLeastArena / kMiB));
    }
    return bytes / 4096 * 4096;
}

constexpr Bytes kLargeMatrix = kLargeSize * kLargeSize * kBf16;

void run_large_product(Bench& bench) {
    constexpr Bytes kSparedAtEnd = 16 * kMiB;  // small operands that cases keep there
    const auto matrix = [&](Bytes offset) {
        return Matrix(bench.at(offset, kLargeMatrix), DType::bf16, kLargeSize, kLargeSize);
    };
    const Bytes result = (bench.arena_bytes - kSparedAtEnd - kLargeMatrix) / 4096 * 4096;
    bench.device.products()->gemm({.d = matrix(result),
                                   .a = matrix(0),
                                   .b = matrix(kLargeMatrix),
                                   .transpose_b = Transpose::yes});
}

/// 0 without a GPU that computes products, or if its memory is too small to heat it.
Seconds time_large_product(Bench& bench) {
    if (!bench.device_facts.is_gpu || bench.device.products() == nullptr ||
        bench.arena_bytes < 4 * kLargeMatrix)
        return 0;
    return time_on_compute_lane(bench.device, {.groups = 3},
                                [&](std::int64_t) { run_large_product(bench); })
        .median;
}

}  // namespace

char* Bench::at(Bytes offset, Bytes bytes) const {
    if (offset < 0 || bytes < 0 || offset > arena_bytes - bytes)
        throw InternalError(fmt::format("bench: {} bytes at {} of an arena of {} bytes", bytes,
                                        offset, arena_bytes));
    return arena + offset;
}

void Bench::report(double share) const {
    if (progress) progress(share);
}

std::unique_ptr<BenchMachine> make_bench(std::unique_ptr<Device> device, HostFacts host,
                                         const BenchSettings& settings) {
    auto machine = std::make_unique<BenchMachine>();
    machine->device = std::move(device);
    machine->random = random_numbers();
    machine->device->attach_thread();
    const DeviceFacts facts = machine->device->facts();
    const Bytes bytes = arena_size(*machine->device, facts, host);
    const Bytes usable = bytes - kKernelWorkspace;
    char* const arena = machine->device->allocate_arena(bytes, usable, kKernelWorkspace);
    machine->bench = std::make_unique<Bench>(Bench{
        .device = *machine->device,
        .device_facts = facts,
        .host = std::move(host),
        .activations = facts.is_gpu ? DType::bf16 : DType::fp32,
        .optimizer_threads = settings.optimizer_threads,
        .compute_threads = settings.compute_threads,
        .arena = arena,
        .arena_bytes = usable,
        .quick = settings.quick,
        .storage_folder = settings.storage_folder,
        .random = &machine->random,
    });
    fill_arena(*machine->bench);
    machine->bench->large_product = time_large_product(*machine->bench);
    return machine;
}

void fill_arena(Bench& bench) { fill_arena(bench, 0, bench.arena_bytes); }

void fill_arena(Bench& bench, Bytes offset, Bytes bytes) {
    Device& device = bench.device;
    char* const to = bench.at(offset, bytes);
    Bytes filled =
        std::min(static_cast<Bytes>(bench.random->size() * sizeof(std::uint16_t)), bytes);
    device.copy(Work::compute, to, bench.random->data(), filled);
    while (filled < bytes) {
        const Bytes piece = std::min(filled, bytes - filled);
        device.copy(Work::compute, to + filled, to, piece);
        filled += piece;
    }
    device.create_events(1);
    device.record(Work::compute, 0);
    device.synchronize(0);
}

void require_finite(Bench& bench, const char* what, const void* data, DType type,
                    std::int64_t count) {
    std::vector<std::uint16_t> halves(static_cast<std::size_t>(count * bytes_of(type)) /
                                      sizeof(std::uint16_t));
    bench.device.copy(Work::compute, halves.data(), data, count * bytes_of(type));
    bench.device.create_events(1);
    bench.device.record(Work::compute, 0);
    bench.device.synchronize(0);
    // The upper half of an fp32 number, the second in memory, is a bf16 number; both are finite or
    // both are not.
    const std::size_t step = type == DType::bf16 ? 1 : 2;
    for (std::size_t i = step - 1; i < halves.size(); i += step) {
        const float value = bf16_to_float(halves[i]);
        if (!std::isfinite(value)) {
            throw InternalError(
                fmt::format("{}: element {} of the output is {}, so its time differs from "
                            "training; please report this",
                            what, i / step, value));
        }
    }
}

void enqueue_large_products(Bench& bench, Seconds seconds) {
    if (bench.large_product == 0) return;
    const auto calls = static_cast<std::int64_t>(std::ceil(seconds / bench.large_product));
    for (std::int64_t call = 0; call < calls; ++call) run_large_product(bench);
}

const std::vector<Case>& all_cases() {
    // The device's cases come first. Cases that are compared with each other and drift on virtual
    // machines (copies, Adam, mixed load) are next to each other.
    static const std::vector<Case> cases = {
        {"launch", "How long do a kernel launch and an event take?", 0.5, 0.3, measure_launch},
        {"device_copy", "How fast is the device's memory?", 0.5, 0.3, measure_device_copy},
        {"gemm", "How long do matrix products take?", 50, 6, measure_gemm},
        {"attention", "How long does attention take?", 20, 2, measure_attention},
        {"memory_bound", "How long do norms, activations, loss and sums take?", 17, 2,
         measure_memory_bound},
        {"fp8", "How fast are large products in FP8 and casts to it?", 6, 1.5, measure_fp8},
        {"power", "How much energy does each kind of work take?", 8, 3, measure_power},
        {"clock", "How does the GPU's clock follow its load?", 6, 6, measure_clock},
        {"gpu_interconnect", "How fast are copies between GPUs?", 0.5, 0.5,
         measure_gpu_interconnect},
        {"storage", "How fast is the disk, by block and queue depth?", 10, 2, measure_storage},
        {"host_memory", "How fast do threads read, write and copy host memory?", 11, 2,
         measure_host_memory},
        {"copies", "How fast are copies over the link, by size and direction?", 9, 4,
         measure_copies},
        {"adam", "How fast is the optimizer, by threads and state precision?", 14, 4, measure_adam},
        {"mixed_load", "How do the optimizer, copies and kernels slow each other down?", 62, 8,
         measure_mixed_load},
        {"numa", "How near are the NUMA nodes to the GPU and to their memory?", 0.5, 0.5,
         measure_numa},
    };
    return cases;
}

}  // namespace sluice
