// How does a GPU's clock follow its load? It starts at its highest, at which all kernels are timed,
// and falls after its power has exceeded the limit for some time.
#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

#include "calibrate/cases/bench.h"
#include "engine/device/device.h"
#include "engine/machine/nvml.h"

namespace sluice {
namespace {

/// Large products one after another from rest, each timed; the median over some repeats.
CaseTable products_after_rest(Bench& bench) {
    constexpr int kProducts = 100, kRepeats = 5;
    constexpr auto kRest = std::chrono::milliseconds(300);
    Device& device = bench.device;
    device.create_events(kProducts + 1);
    std::vector<std::vector<double>> begin(kProducts), us(kProducts);
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        device.finish_all();
        std::this_thread::sleep_for(kRest);
        device.align_clocks();
        for (int product = 0; product < kProducts; ++product) {
            device.record(Work::compute, product);
            enqueue_large_products(bench, bench.large_product / 2);  // one
        }
        device.record(Work::compute, kProducts);
        device.synchronize(kProducts);
        for (int product = 0; product < kProducts; ++product) {
            const auto i = static_cast<std::size_t>(product);
            const Seconds from = device.time_of(product);
            begin[i].push_back(from - device.time_of(0));
            us[i].push_back((device.time_of(product + 1) - from) * kMega);
        }
    }
    constexpr double kTflop = 2.0 * kLargeSize * kLargeSize * kLargeSize / kTera;
    CaseTable table;
    table.name = "clock_after_rest";
    table.method = fmt::format(
        "large products one after another after 0.3 s of rest, by when each "
        "began; medians of {} repeats",
        kRepeats);
    table.columns = {"begin_s", "us", "us_low", "us_high", "tflop"};
    for (std::size_t i = 0; i < us.size(); ++i) {
        const Sample sample = summarize(us[i]);
        table.add({summarize(begin[i]).median, sample.median, sample.low, sample.high, kTflop});
    }
    return table;
}

/// Power of products at the highest clock: in bursts too short for the power limit, with rests
/// between.
void measure_burst_power(Bench& bench, const Nvml& gpu, CaseRecord& record) {
    constexpr Seconds kBurst = 0.012, kWarmUp = 0.5, kMeasured = 2;
    constexpr auto kRest = std::chrono::milliseconds(25);
    Device& device = bench.device;
    device.create_events(2);
    Seconds busy = 0;
    const auto burst = [&] {
        std::this_thread::sleep_for(kRest);
        device.align_clocks();
        device.record(Work::compute, 0);
        enqueue_large_products(bench, kBurst);
        device.record(Work::compute, 1);
        device.synchronize(1);
        busy += device.time_of(1) - device.time_of(0);
    };
    for (const Seconds end = host_seconds() + kWarmUp; host_seconds() < end;) burst();
    busy = 0;
    const Seconds begin = host_seconds();
    const auto joules = gpu.energy_j();
    while (host_seconds() < begin + kMeasured) burst();
    const auto joules_after = gpu.energy_j();
    const Seconds seconds = host_seconds() - begin;
    if (!joules || !joules_after || *joules_after <= *joules) {
        record.warnings.emplace_back(
            "clock: the GPU's energy counter does not advance; how long it may exceed its power "
            "limit is not known");
        return;
    }
    CaseTable table;
    table.name = "clock_bursts";
    table.method = fmt::format(
        "mean of the GPU's energy counter over {:.1f} s of bursts of large products, 12 ms each "
        "with 25 ms of rest before",
        seconds);
    table.columns = {"watts", "busy_share"};
    table.add({(*joules_after - *joules) / seconds, busy / seconds});
    record.tables.push_back(std::move(table));
}

}  // namespace

void measure_clock(Bench& bench, CaseRecord& record) {
    if (bench.large_product == 0) return;  // no GPU, so no clock that falls under load
    fill_arena(bench);
    record.tables.push_back(products_after_rest(bench));
    bench.report(0.5);
    const auto gpu = Nvml::open(attached_gpu_bus_id());
    if (gpu != nullptr && gpu->energy_j()) measure_burst_power(bench, *gpu, record);
}

}  // namespace sluice
