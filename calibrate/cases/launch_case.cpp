#include <algorithm>
#include <vector>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/kernel_rows.h"

namespace sluice {
namespace {

/// Kernels in a queue: fewer than the some 1000 operations after which a launch waits.
constexpr int kKernels = 400;

struct Launches {
    Seconds device = 0;  ///< from before the first kernel to after the last
    Seconds host = 0;    ///< of enqueuing them
};

/// Enqueues kernels of 256 elements behind work that lets the host get ahead of the device, with an
/// event after each where `events`.
Launches enqueue_kernels(Bench& bench, const Timing& timing, bool events) {
    constexpr std::int64_t kElements = 256;
    const Vector in{bench.at(0, 4 * kElements), DType::fp32, kElements};
    const Vector out{bench.at(4096, 2 * kElements), DType::bf16, kElements};
    Device& device = bench.device;
    device.align_clocks();
    if (timing.before_group) timing.before_group();
    device.record(Lane::compute, 0);
    const Seconds begin = host_seconds();
    for (int kernel = 0; kernel < kKernels; ++kernel) {
        device.kernels().round_to_bf16(out, in);
        if (events) device.record(Lane::compute, kernel + 2);
    }
    const Seconds host = host_seconds() - begin;
    device.record(Lane::compute, 1);
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
    Table table;
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

}  // namespace sluice
