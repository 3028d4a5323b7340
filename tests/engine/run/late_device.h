// A device whose copies and kernels wait in their lanes until a seed lets them run, in every order
// that events allow: what a GPU may do and the CPU device never does. All on one thread, so that a
// seed always gives the same order.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "engine/device/device.h"
#include "engine/run/lane_runner.h"

namespace sluice {

/// Who goes next? Who was drawn before the others stays ahead of them until the order is drawn
/// again, after every choice or after a hundred of them, as the seed says: lanes that always go on
/// as late as they can find more than lanes that take turns (Burckhardt and others, "A Randomized
/// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
class SeededTurns {
  public:
    explicit SeededTurns(std::uint64_t seed);
    /// One of these actors.
    int choose(std::span<const int> actors);
    /// Below `end`.
    std::size_t below(std::size_t end) { return random_() % end; }

  private:
    std::mt19937_64 random_;
    std::size_t choices_an_order_;
    std::vector<int> order_;  ///< of actors, the first goes first
};

/// The faults made on purpose. The first is number 0.
struct LateFaults {
    Work lane = Work::compute;         ///< of the lost and of the killing task: copies or kernels
    std::int64_t lost_task = -1;       ///< is not done
    std::int64_t killing_task = -1;    ///< throws Killed
    std::int64_t refused_memory = -1;  ///< an arena or a page-locked range: throws Refused
};
struct Killed {};
struct Refused {};

class LateDevice final : public Device {
  public:
    explicit LateDevice(std::uint64_t seed, const LateFaults& faults = {});
    ~LateDevice() override;

    /// For LaneRunner: copies and kernels run in between.
    LaneChoice lane_choice();
    /// Copies or kernels so far.
    std::int64_t tasks(Work lane) const { return tasks_[static_cast<std::size_t>(lane)]; }
    std::int64_t locked_ranges() const { return locked_; }

    DeviceFacts facts() const override { return {}; }
    Bytes memory_in_use() const override { return 0; }
    void attach_thread() override {}
    char* allocate_arena(Bytes bytes, Bytes workspace_offset, Bytes workspace_bytes) override;
    Kernels& kernels() override { return *kernels_; }
    void register_host(void* memory, Bytes bytes) override;
    void release_host(void* memory) override;
    void copy(Work lane, void* to, const void* from, Bytes bytes) override;
    void finish_all() override;
    void create_events(int count) override;
    void record(Work lane, EventId event) override;
    void wait(Work lane, EventId event) override;
    void synchronize(EventId event) override;
    Seconds time_of(EventId event) override;
    void align_clocks() override {}

  private:
    class LateKernels;
    struct Event {
        std::int64_t recorded = 0, happened = 0;  ///< how often
        Seconds time = 0;
    };
    /// Something to do, or an event that happens here or must have happened.
    struct Task {
        std::function<void()> work;
        EventId happens = -1, waits_for = -1;
        std::int64_t times = 0;  ///< that the event was recorded
    };
    static constexpr std::size_t kQueues = 3;

    Event& at(EventId event) { return events_[static_cast<std::size_t>(event)]; }
    std::deque<Task>& queue(Work lane) { return queues_[static_cast<std::size_t>(lane)]; }
    /// One copy or kernel.
    void enqueue(Work lane, std::vector<std::function<void()>> parts);
    bool can_run(Work lane);
    void run_first(Work lane);
    /// Adds the lanes whose first task can run.
    void add_actors(std::vector<int>& actors);
    void run_one();
    void refuse_memory();

    SeededTurns turns_;
    LateFaults faults_;
    std::unique_ptr<Device> cpu_ = make_cpu_device(1);
    std::unique_ptr<Kernels> kernels_;
    std::array<std::deque<Task>, kQueues> queues_;
    std::vector<Event> events_;
    std::array<std::int64_t, kQueues> tasks_{};
    std::int64_t allocations_ = 0, locked_ = 0;
    void* memory_ = nullptr;
    bool killed_ = false;
};

}  // namespace sluice
