// Numbers of a GPU that need one or a few rows: launches, copies within it, copies to the next one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_rows.h"
#include "engine/device/device.h"
#include "engine/device/peer_copy.h"
#include "engine/machine/nvml.h"

namespace sluice {

namespace {

/// Kernels in a queue: fewer than the some 1000 operations after which a launch waits.
constexpr int kKernels = 400;

struct Launches {
    Seconds device = 0;  ///< from before the first kernel to after the last
    Seconds host = 0;    ///< host time to enqueue them
};

/// Enqueues kernels of 256 elements after work that gives the host a lead, with an event after each
/// if `events`.
Launches enqueue_kernels(Bench& bench, const Timing& timing, bool events) {
    constexpr std::int64_t kElements = 256;
    const Vector in{bench.at(0, 4 * kElements), DType::fp32, kElements};
    const Vector out{bench.at(4096, 2 * kElements), DType::bf16, kElements};
    Device& device = bench.device;
    device.align_clocks();
    if (timing.before_group) timing.before_group();
    device.record(Work::compute, 0);
    const Seconds begin = host_seconds();
    for (int kernel = 0; kernel < kKernels; ++kernel) {
        device.kernels().round_to_bf16(out, in);
        if (events) device.record(Work::compute, kernel + 2);
    }
    const Seconds host = host_seconds() - begin;
    device.record(Work::compute, 1);
    device.synchronize(1);
    return {(device.time_of(1) - device.time_of(0)) / kKernels, host / kKernels};
}

}  // namespace

void measure_launch(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    const Timing timing = kernel_timing(bench);
    bench.device.create_events(kKernels + 2);
    enqueue_kernels(bench, timing, false);
    const int repeats = bench.quick ? 9 : 31;
    std::vector<Seconds> kernel, event, host;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const Launches plain = enqueue_kernels(bench, timing, false);
        const Launches with_events = enqueue_kernels(bench, timing, true);
        kernel.push_back(plain.device * kMega);
        event.push_back(std::max(0.0, with_events.device - plain.device) * kMega);
        host.push_back(plain.host * kMega);
        bench.report(static_cast<double>(repeat + 1) / repeats);
    }
    CaseTable table;
    table.name = "launch";
    table.method =
        "400 kernels of 256 elements in a queue behind other work: device time of each, what an "
        "event recorded after each adds, host time of enqueuing one; medians";
    table.columns = {"kernel_us", "kernel_us_low", "kernel_us_high",
                     "event_us",  "event_us_low",  "event_us_high",
                     "host_us",   "host_us_low",   "host_us_high"};
    std::vector<double> row;
    for (const auto* values : {&kernel, &event, &host}) {
        const Sample sample = summarize(*values);
        row.insert(row.end(), {sample.median, sample.low, sample.high});
    }
    table.add(std::move(row));
    record.tables.push_back(std::move(table));
}

void measure_device_copy(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    KernelRows rows(bench, "device_copy", {"bytes"},
                    "copies within device memory, each byte read and written once; groups timed by "
                    "events, over memory larger than the caches",
                    false);
    constexpr Bytes kLeast = 4096, kMost = Bytes{2} << 30;
    const Bytes most = std::min(kMost, output_zone(bench).bytes);
    const Bytes step = bench.quick ? 8 : 4;
    int count = 1, done = 0;
    for (Bytes bytes = kLeast; bytes <= most / step; bytes *= step) ++count;
    for (Bytes bytes = kLeast; done < count; bytes *= step) {
        const OperandSets from(bench, input_zone(bench), {bytes});
        const OperandSets to(bench, output_zone(bench), {bytes});
        rows.measure({{bytes}, false}, [&](std::int64_t call) {
            bench.device.copy(Work::compute, to.at(call, 0), from.at(call, 0), bytes);
        });
        bench.report(static_cast<double>(++done) / count);
    }
    require_finite(bench, "device copy", bench.at(output_zone(bench).begin, 4096), DType::fp32,
                   1024);
    rows.finish(record);
}

namespace {

constexpr int kFirst = 0, kSecond = 1;
constexpr int kRepeats = 7;
constexpr Bytes kLargest = Bytes{256} << 20;
constexpr std::array kSizes = {Bytes{64} << 10, Bytes{1} << 20, Bytes{16} << 20, kLargest};

/// GB/s of 1 GB or 500 copies per repeat; the sum of both directions.
Sample rate_gb_per_s(PeerCopy& copies, Bytes bytes, bool both_ways, bool quick) {
    const double amount = quick ? 0.25e9 : 1e9;
    const int count =
        std::clamp(static_cast<int>(amount / static_cast<double>(bytes)), 1, quick ? 100 : 500);
    copies.time(bytes, count, both_ways);  // warm-up
    std::vector<double> seconds;
    for (int repeat = 0; repeat < kRepeats; ++repeat)
        seconds.push_back(copies.time(bytes, count, both_ways));
    const double ways = both_ways ? 2 : 1;
    return rate_of(ways * count * static_cast<double>(bytes) / kGiga, summarize(seconds));
}

std::string path_text(const PeerCopy& copies) {
    const auto first = Nvml::open(gpu_bus_id(kFirst)), second = Nvml::open(gpu_bus_id(kSecond));
    if (!copies.is_direct()) return "through host memory";
    if (first == nullptr || second == nullptr) return "directly";
    const auto nvlink = first->nvlink_to(*second);
    if (!nvlink) return "directly";
    return *nvlink ? "over NVLink" : "over PCIe, without NVLink";
}

void measure_pair(const Bench& bench, CaseRecord& record) {
    const auto copies = make_peer_copy(kFirst, kSecond, kLargest);
    if (!copies->arrives(kLargest))
        throw std::runtime_error(fmt::format(
            "a copy of {} bytes from GPU {} to GPU {} did not arrive whole: the link between them "
            "or its driver is broken",
            kLargest, kFirst, kSecond));
    CaseTable table;
    table.name = "gpu_interconnect";
    table.method = fmt::format(
        "copies between GPU {} and GPU {} {}, by events; both ways is the sum of "
        "both; median of {} repeats",
        kFirst, kSecond, path_text(*copies), kRepeats);
    table.columns = {"bytes",         "one_way_gb_per_s",   "one_way_low",
                     "one_way_high",  "both_ways_gb_per_s", "both_ways_low",
                     "both_ways_high"};
    for (const Bytes bytes : kSizes) {
        const Sample one = rate_gb_per_s(*copies, bytes, false, bench.quick);
        const Sample both = rate_gb_per_s(*copies, bytes, true, bench.quick);
        table.add({static_cast<double>(bytes), one.median, one.low, one.high, both.median, both.low,
                   both.high});
    }
    record.tables.push_back(std::move(table));
}

}  // namespace

/// With one GPU or none: no table, and no warning, since nothing is wrong.
void measure_gpu_interconnect(Bench& bench, CaseRecord& record) {
    if (!bench.device_facts.is_gpu || gpu_count() < 2) return;
    try {
        measure_pair(bench, record);
    } catch (const std::runtime_error& error) {
        // The other GPU may be in use or reserved; this machine is calibrated without it.
        record.warnings.push_back(
            fmt::format("copies between GPUs were not measured: {}", error.what()));
    }
}

}  // namespace sluice
