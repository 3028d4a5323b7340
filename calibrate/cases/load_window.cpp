#include "calibrate/cases/load_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <latch>
#include <limits>
#include <memory>
#include <thread>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Chunks or products that wait on a lane: while the thread that feeds it wakes up, the lane has
/// one to work on and one to start with.
constexpr int kQueued = 3;
constexpr int kDeviceLanes = 3;

/// The state that the loads of a window share.
class Window {
  public:
    explicit Window(int loads) : begun_(loads), short_of_end_(loads) {}

    /// Blocks until all loads have begun, then returns the window that counts.
    void open(Seconds warm_up, Seconds window) {
        begun_.wait();
        begin_ = host_seconds() + warm_up;
        end_ = begin_ + window;
    }
    Seconds begin() const { return begin_; }
    Seconds end() const { return end_; }

    void load_begins() { begun_.count_down(); }
    void load_is_past_end() { --short_of_end_; }
    void load_failed() { failed_ = true; }
    /// Whether loads may stop: each has completed a unit after the end.
    bool over() const { return short_of_end_ == 0 || failed_; }

  private:
    std::latch begun_;
    Seconds begin_ = 0;
    std::atomic<Seconds> end_{std::numeric_limits<Seconds>::infinity()};
    std::atomic<int> short_of_end_;
    std::atomic<bool> failed_{false};
};

class Load {
  public:
    /// `work` calls complete() after each unit until that returns false.
    Load(Window& window, Device& device, std::function<void(Load&)> work)
        : window_(window), thread_([this, &device, work = std::move(work)] {
              completions_.push_back(host_seconds());
              window_.load_begins();
              try {
                  device.attach_thread();
                  work(*this);
              } catch (...) {
                  error_ = std::current_exception();
                  window_.load_failed();
              }
          }) {}

    /// A unit was done at `time`; returns whether to continue.
    bool complete(Seconds time) {
        completions_.push_back(std::max(time, completions_.back()));
        if (!past_end_ && time >= window_.end()) {
            past_end_ = true;
            window_.load_is_past_end();
        }
        return !window_.over();
    }

    void join() { thread_.join(); }
    /// Units per second in the window. Precondition: joined. Throws what the load threw.
    double rate() const {
        if (error_) std::rethrow_exception(error_);
        return completed_per_second(completions_, window_.begin(), window_.end());
    }
    bool failed() const { return error_ != nullptr; }

  private:
    Window& window_;
    std::vector<Seconds> completions_;
    bool past_end_ = false;
    std::exception_ptr error_;
    std::thread thread_;  // last member, since it uses the others
};

/// Keeps kQueued units on a lane; the thread sleeps while they are in progress.
void feed_lane(Load& load, Device& device, Work lane,
               const std::function<void(std::int64_t)>& enqueue) {
    const auto event_of = [lane](std::int64_t unit) {
        return static_cast<EventId>(static_cast<int>(lane) * kQueued + unit % kQueued);
    };
    std::int64_t unit = 0;
    for (;; ++unit) {
        if (unit >= kQueued) {  // the event belongs to unit - kQueued
            device.synchronize(event_of(unit));
            if (!load.complete(device.time_of(event_of(unit)))) break;
        }
        enqueue(unit);
        device.record(lane, event_of(unit));
    }
    for (std::int64_t last = std::max<std::int64_t>(0, unit - kQueued); last < unit; ++last)
        device.synchronize(event_of(last));
}

void feed_copies(Load& load, Device& device, Work lane, const CopyLoad& copies) {
    const std::int64_t chunks = copies.bytes / copies.chunk;
    feed_lane(load, device, lane, [&](std::int64_t unit) {
        const Bytes offset = unit % chunks * copies.chunk;
        char* const host = copies.host + offset;
        char* const on_device = copies.device + offset;
        if (lane == Work::host_to_device) {
            device.copy(lane, on_device, host, copies.chunk);
        } else {
            device.copy(lane, host, on_device, copies.chunk);
        }
    });
}

void feed_optimizer(Load& load, OptimizerLoad& optimizer) {
    do {
        optimizer.update();
    } while (load.complete(host_seconds()));
}

/// Precondition: all are joined. Throws what one of them threw.
LoadRates rates_of(const Loads& loads, const std::array<std::unique_ptr<Load>, 4>& running) {
    for (const auto& load : running)  // the others ended early, so their rates are not valid
        if (load && load->failed()) load->rate();
    const auto rate = [&](std::size_t i) { return running[i] ? running[i]->rate() : 0; };
    LoadRates rates;
    rates.products = rate(0);
    rates.in_bytes = rate(1) * static_cast<double>(loads.in.chunk);
    rates.out_bytes = rate(2) * static_cast<double>(loads.out.chunk);
    if (running[3])
        rates.parameters = rate(3) * static_cast<double>(loads.optimizer->parameters_per_update());
    return rates;
}

double units_at(std::span<const Seconds> completions, Seconds time) {
    const auto after = std::upper_bound(completions.begin(), completions.end(), time);
    const auto done = static_cast<double>(after - completions.begin()) - 1;
    if (after == completions.end()) return done;
    const Seconds before = *(after - 1);
    return done + (time - before) / (*after - before);
}

}  // namespace

double completed_per_second(std::span<const Seconds> completions, Seconds begin, Seconds end) {
    if (completions.empty() || completions.front() > begin || completions.back() < end ||
        !(begin < end))
        throw InternalError(fmt::format("load window: {} completions do not reach from {} to {} s",
                                        completions.size(), begin, end));
    return (units_at(completions, end) - units_at(completions, begin)) / (end - begin);
}

LoadRates run_loads(Device& device, const Loads& loads, LoadSet set, Seconds warm_up,
                    Seconds window_seconds) {
    const int count = set.compute + set.in + set.out + set.work;
    if (count == 0) throw InternalError("load window: no load to run");
    device.create_events(kDeviceLanes * kQueued);
    device.align_clocks();
    Window window(count);
    // Compute, in, out, work.
    std::array<std::unique_ptr<Load>, 4> running;
    const auto start = [&](std::size_t i, bool wanted, std::function<void(Load&)> work) {
        if (wanted) running[i] = std::make_unique<Load>(window, device, std::move(work));
    };
    start(0, set.compute,
          [&](Load& load) { feed_lane(load, device, Work::compute, loads.product); });
    start(1, set.in,
          [&](Load& load) { feed_copies(load, device, Work::host_to_device, loads.in); });
    start(2, set.out,
          [&](Load& load) { feed_copies(load, device, Work::device_to_host, loads.out); });
    start(3, set.work, [&](Load& load) { feed_optimizer(load, *loads.optimizer); });
    window.open(warm_up, window_seconds);
    for (const auto& load : running)
        if (load) load->join();
    device.finish_all();  // removes what a failed load left
    return rates_of(loads, running);
}

}  // namespace sluice
