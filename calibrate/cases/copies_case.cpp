// How fast are copies between host and device, by size and direction, and in both directions at
// once?
#include <algorithm>
#include <cmath>
#include <cstring>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/case_host.h"
#include "calibrate/cases/load_window.h"
#include "engine/memory/host_region.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr Bytes kLeastCopy = Bytes{4} << 10;
constexpr Bytes kMostCopy = 512 * kMiB;
constexpr Bytes kMostCopyOnCpu = 256 * kMiB;  // with one thread
constexpr Bytes kPageable = 256 * kMiB;

/// Copies in use one half of a region, copies out the other, on the host and on the device.
struct CopyMemory {
    HostRegion host;
    Bytes bytes = 0;  ///< of each half
};

std::vector<Bytes> copy_sizes(Bytes most) {
    std::vector<Bytes> sizes;
    for (Bytes size = kLeastCopy; size < most; size *= 4) sizes.push_back(size);
    sizes.push_back(most);
    return sizes;
}

/// Registered and full of numbers like the arena's.
CopyMemory make_copy_memory(const Bench& bench, ThreadPool& pool) {
    const Bytes most = std::min(host_memory_budget(bench.host), bench.arena_bytes) / 2;
    CopyMemory memory;
    memory.bytes =
        std::min(bench.device_facts.is_gpu ? kMostCopy : kMostCopyOnCpu, most / kMiB * kMiB);
    memory.host = HostRegion(2 * memory.bytes, "copies to measure", pool, &bench.device);
    fill_normal(pool, memory.host.at<std::uint16_t>(0), memory.host.bytes() / kBf16, 1, 1);
    return memory;
}

/// Copies an odd number of bytes in and out again, and requires that they are unchanged.
void check_bytes(const Bench& bench, const CopyMemory& memory) {
    const Bytes bytes = std::min<Bytes>(memory.bytes, 8 * kMiB) - 6;
    char* const device = bench.at(0, bytes);
    char* const back = memory.host.data() + memory.bytes;
    bench.device.copy(Work::host_to_device, device, memory.host.data(), bytes);
    bench.device.finish_all();
    bench.device.copy(Work::device_to_host, back, device, bytes);
    bench.device.finish_all();
    if (std::memcmp(memory.host.data(), back, static_cast<std::size_t>(bytes)) != 0)
        throw InternalError("copies to the device and back changed the bytes");
}

/// Enqueues `count` copies of `bytes`, each from and to the next place of the half.
class CopyQueue {
  public:
    CopyQueue(const Bench& bench, Work lane, char* host, Bytes half, Bytes bytes)
        : device_(bench.device),
          lane_(lane),
          host_(host),
          arena_(bench.at(0, half)),
          bytes_(bytes),
          places_(half / bytes) {}

    void enqueue(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i, ++done_) {
            const Bytes offset = done_ % places_ * bytes_;
            if (lane_ == Work::host_to_device) {
                device_.copy(lane_, arena_ + offset, host_ + offset, bytes_);
            } else {
                device_.copy(lane_, host_ + offset, arena_ + offset, bytes_);
            }
        }
    }

  private:
    Device& device_;
    Work lane_;
    char* host_;
    char* arena_;
    Bytes bytes_;
    std::int64_t places_, done_ = 0;
};

/// The number of copies that takes about that long; warms them up.
std::int64_t copies_in(Seconds seconds, Device& device, CopyQueue& queue) {
    for (std::int64_t count = 2;; count *= 2) {
        const Seconds start = host_seconds();
        queue.enqueue(count);
        device.finish_all();
        const Seconds taken = host_seconds() - start;
        if (taken < seconds / 4) continue;
        return std::max<std::int64_t>(1,
                                      std::llround(static_cast<double>(count) * seconds / taken));
    }
}

/// Seconds per copy, from groups of copies that follow one another without a gap.
Sample time_copies(const Bench& bench, Work lane, CopyQueue& queue) {
    const int groups = bench.quick ? 5 : 9;
    Device& device = bench.device;
    device.create_events(groups + 1);
    const std::int64_t count = copies_in(bench.quick ? 0.004 : 0.02, device, queue);
    device.align_clocks();
    device.record(lane, 0);
    for (int group = 1; group <= groups; ++group) {
        queue.enqueue(count);
        device.record(lane, group);
    }
    device.synchronize(groups);
    std::vector<double> seconds;
    for (int group = 1; group <= groups; ++group) {
        const Seconds time = device.time_of(group) - device.time_of(group - 1);
        seconds.push_back(time / static_cast<double>(count));
    }
    return summarize(seconds);
}

CaseTable measure_by_size(const Bench& bench, Work lane, const CopyMemory& memory) {
    const bool in = lane == Work::host_to_device;
    CaseTable table{.name = in ? "copy_host_to_device" : "copy_device_to_host",
                    .method =
                        "registered host memory, copies that follow one another on their lane "
                        "through up to 512 MiB, timed by events around groups of 20 ms; median",
                    .columns = {"bytes", "us", "us_low", "us_high"}};
    char* const host = memory.host.data() + (in ? 0 : memory.bytes);
    for (const Bytes bytes : copy_sizes(memory.bytes)) {
        CopyQueue queue(bench, lane, host, memory.bytes, bytes);
        const Sample time = time_copies(bench, lane, queue);
        table.add(
            {static_cast<double>(bytes), time.median * kMega, time.low * kMega, time.high * kMega});
    }
    return table;
}

/// Host memory that is not registered, as in a program that ignores pinning.
CaseTable measure_pageable(const Bench& bench, Work lane, ThreadPool& pool) {
    const bool in = lane == Work::host_to_device;
    CaseTable table{.name = in ? "copy_pageable_host_to_device" : "copy_pageable_device_to_host",
                    .method =
                        "host memory that is not registered, one copy at a time, host clock "
                        "until it is done; median of 5",
                    .columns = {"bytes", "gb_per_s", "low", "high"}};
    const Bytes bytes = std::min(kPageable, bench.arena_bytes / kMiB * kMiB);
    const HostRegion host(bytes, "pageable copies to measure", pool);
    fill_normal(pool, host.at<std::uint16_t>(0), bytes / kBf16, 1, 2);
    CopyQueue queue(bench, lane, host.data(), bytes, bytes);
    std::vector<double> seconds;
    for (int i = 0; i < 6; ++i) {
        const Seconds start = host_seconds();
        queue.enqueue(1);
        bench.device.finish_all();
        if (i > 0) seconds.push_back(host_seconds() - start);
    }
    const Sample rate = rate_of(static_cast<double>(bytes) / kGiga, summarize(seconds));
    table.add({static_cast<double>(bytes), rate.median, rate.low, rate.high});
    return table;
}

/// Columns of rates in GB/s: median, low, high.
void append_gb_per_s(std::vector<double>& row, std::vector<double> rates) {
    for (double& rate : rates) rate /= kGiga;
    const Sample sample = summarize(rates);
    row.insert(row.end(), {sample.median, sample.low, sample.high});
}

CaseTable measure_both_ways(const Bench& bench, const CopyMemory& memory) {
    CaseTable table{.name = "copy_both_ways",
                    .method =
                        "chunks in and out at the same time, 3 queued on either lane, counted in "
                        "a window common to both; median of windows",
                    .columns = {"bytes", "in_gb_per_s", "in_low", "in_high", "out_gb_per_s",
                                "out_low", "out_high"}};
    const int windows = bench.quick ? 3 : 5;
    const Seconds seconds = bench.quick ? 0.1 : 0.2;
    for (const Bytes chunk : {16 * kMiB, 64 * kMiB, 256 * kMiB}) {
        if (chunk > memory.bytes) break;
        Loads loads;
        loads.in = {memory.host.data(), bench.at(0, memory.bytes), memory.bytes, chunk};
        loads.out = {memory.host.data() + memory.bytes, bench.at(memory.bytes, memory.bytes),
                     memory.bytes, chunk};
        std::vector<double> in, out;
        for (int i = 0; i < windows; ++i) {
            const LoadRates rates =
                run_loads(bench.device, loads, {.in = true, .out = true}, 0.05, seconds);
            in.push_back(rates.in_bytes);
            out.push_back(rates.out_bytes);
        }
        std::vector<double> row{static_cast<double>(chunk)};
        append_gb_per_s(row, in);
        append_gb_per_s(row, out);
        table.add(row);
    }
    return table;
}

}  // namespace

void measure_copies(Bench& bench, CaseRecord& record) {
    ThreadPool pool(bench.optimizer_threads, optimizer_cpus(bench, bench.optimizer_threads));
    const CopyMemory memory = make_copy_memory(bench, pool);
    check_bytes(bench, memory);
    for (const Work lane : {Work::host_to_device, Work::device_to_host}) {
        add_with_spread(record, measure_by_size(bench, lane, memory));
        bench.report(lane == Work::host_to_device ? 0.3 : 0.6);
    }
    if (bench.device_facts.is_gpu)
        for (const Work lane : {Work::host_to_device, Work::device_to_host})
            add_with_spread(record, measure_pageable(bench, lane, pool));
    bench.report(0.7);
    add_with_spread(record, measure_both_ways(bench, memory));
}

}  // namespace sluice
