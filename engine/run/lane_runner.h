// How are a plan's operations executed? One thread per lane, in order, each operation after its
// dependencies. Copies and kernels are enqueued on the device, so the lanes' threads run ahead of
// it; a lane's thread does its host work itself.
#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine/device/device.h"
#include "sim/plan/step.h"

namespace sluice {

/// For trials of orders: which of these lanes begins its next operation? None: the thread that
/// waits for the lanes goes on, unless it `must_wait`.
using LaneChoice = std::function<std::optional<Lane>(std::span<const Lane> ready, bool must_wait)>;

class LaneRunner {
  public:
    /// Enqueues or does an operation of a step, on its lane's thread.
    using Execute = std::function<void(OperationId, std::int64_t step)>;

    /// `program` and `device`, which has all of its lanes, must outlive the runner. With `choose`,
    /// lanes have no threads: the thread that waits for them runs one operation after another.
    LaneRunner(const StepProgram& program, Device& device, Execute execute, LaneChoice choose = {});
    ~LaneRunner();
    LaneRunner(const LaneRunner&) = delete;
    LaneRunner& operator=(const LaneRunner&) = delete;

    /// The number of the step that submit() starts, from 0.
    std::int64_t next_step() const { return submitted_; }
    /// Starts one more step. Operations wait for those of the previous step according to the plan;
    /// otherwise steps overlap.
    void submit();
    /// Waits until an operation of the last submitted step is done. Throws what a lane threw.
    void wait_for(OperationId operation);
    /// Waits until all submitted steps are done. Throws what a lane threw.
    void finish();

    /// When each operation of the step before the last submitted one ran, on the clock of
    /// host_seconds(). Precondition: all of them are done.
    std::vector<OperationInterval> intervals_of_step_before();

  private:
    struct State {
        std::int64_t issued =
            0;  ///< number of steps in which the operation was enqueued (host work: done)
        std::array<OperationInterval, 2> host;  ///< of host work, in even and odd steps
    };
    /// The operations of a lane, in order, step after step.
    struct Queue {
        std::vector<OperationId> operations;  ///< of one step
        std::size_t done = 0;                 ///< in all steps
        OperationId next() const { return operations[done % operations.size()]; }
        std::int64_t step() const { return static_cast<std::int64_t>(done / operations.size()); }
    };
    static bool on_device(Lane lane) {
        return lane.work == Work::host_to_device || lane.work == Work::compute ||
               lane.work == Work::device_to_host;
    }
    const Operation& at(OperationId id) const {
        return program_.operations[static_cast<std::size_t>(id)];
    }
    State& state(OperationId id) { return states_[static_cast<std::size_t>(id)]; }
    EventId start_event(OperationId id, std::int64_t step) const;
    EventId end_event(OperationId id, std::int64_t step) const { return start_event(id, step) + 1; }

    void start_threads();
    void stop_threads();
    void run_lane(Lane lane);
    /// Whether the lane's next operation has nothing to wait for.
    bool is_ready(Lane lane);
    void run_next(Lane lane);
    void take_turns_until_issued(OperationId id, std::int64_t steps);
    void run_operation(OperationId id, std::int64_t step);
    void wait_until_issued(OperationId id, std::int64_t steps);
    void mark_issued(OperationId id, std::int64_t steps);
    void fail(std::exception_ptr error);

    const StepProgram& program_;
    Device& device_;
    Execute execute_;
    LaneChoice choose_;
    ByLane<Queue> queues_;
    std::vector<State> states_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t submitted_ = 0;
    bool stopping_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace sluice
