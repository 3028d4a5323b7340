#include "calibrate/cases/rested.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace sluice {
namespace {

constexpr int kBursts = 6;
constexpr Seconds kBurst = 0.003;
constexpr std::int64_t kMostCalls = 300;  // enqueued while the first of them runs
constexpr auto kRest = std::chrono::milliseconds(25);

}  // namespace

Sample time_rested(Bench& bench, Seconds seconds_a_call,
                   const std::function<void(std::int64_t)>& enqueue) {
    const auto calls =
        std::clamp<std::int64_t>(std::llround(kBurst / seconds_a_call), 1, kMostCalls);
    Device& device = bench.device;
    device.create_events(2);
    std::vector<Seconds> seconds;
    std::int64_t call = 0;
    for (int burst = 0; burst < kBursts; ++burst) {
        device.finish_all();
        std::this_thread::sleep_for(kRest);
        device.align_clocks();
        enqueue_heat(bench, kBurst / 3);  // while the host enqueues the calls
        device.record(Lane::compute, 0);
        for (std::int64_t i = 0; i < calls; ++i) enqueue(call++);
        device.record(Lane::compute, 1);
        device.synchronize(1);
        seconds.push_back((device.time_of(1) - device.time_of(0)) / static_cast<double>(calls));
    }
    return summarize(seconds);
}

}  // namespace sluice
