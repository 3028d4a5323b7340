#include "calibrate/cases/compute_timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

/// Enqueuing a kernel takes the host 3 to 15 us.
constexpr Seconds kShortCall = 20e-6;
/// CUDA lets some 1000 operations wait in a stream; then the host waits too.
constexpr std::int64_t kCallsAhead = 700;

std::int64_t calls_in(Seconds seconds, Seconds seconds_a_call) {
    return static_cast<std::int64_t>(std::ceil(seconds / seconds_a_call));
}

/// Calls with numbers that go on, and the time between two events.
class Calls {
  public:
    Calls(Device& device, const std::function<void(std::int64_t)>& enqueue)
        : device_(device), enqueue_(enqueue) {}

    void enqueue(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) enqueue_(next_++);
    }
    void record(EventId event) { device_.record(Lane::compute, event); }
    /// Seconds a call of `count` calls, waited for.
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
    // In all 20 groups' time, or 3 calls.
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
    calls.time(1);  // the first call chooses an algorithm, compiles it, touches memory
    Seconds estimate = calls.time(1);
    if (estimate < timing.group / 8)
        estimate = calls.time(std::min<std::int64_t>(200, calls_in(timing.group / 4, estimate)));
    const CallGroups plan = group_calls(timing, estimate);
    if (timing.before_group) timing.before_group();
    calls.enqueue(plan.warm_up_calls);
    // Times are float milliseconds since this: near it they are exact to 15 ns.
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

}  // namespace sluice
