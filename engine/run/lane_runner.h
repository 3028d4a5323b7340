// How are a plan's operations executed? One thread per lane, in order, each operation after its
// dependencies. Copies and kernels are enqueued on the device, so the lanes' threads run ahead of
// it; a lane's thread does its host work itself.
#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/device/device.h"
#include "sim/plan/step.h"

namespace sluice {

class LaneRunner {
  public:
    /// Enqueues or does an operation of a step, on its lane's thread.
    using Work = std::function<void(OperationId, std::int64_t step)>;

    /// `program` and `device` must outlive the runner.
    LaneRunner(const StepProgram& program, Device& device, Work work);
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
    static bool on_device(Lane lane) {
        return lane == Lane::host_to_device || lane == Lane::compute ||
               lane == Lane::device_to_host;
    }
    const Operation& at(OperationId id) const {
        return program_.operations[static_cast<std::size_t>(id)];
    }
    State& state(OperationId id) { return states_[static_cast<std::size_t>(id)]; }
    EventId start_event(OperationId id, std::int64_t step) const;
    EventId end_event(OperationId id, std::int64_t step) const { return start_event(id, step) + 1; }

    void run_lane(Lane lane);
    void run_operation(OperationId id, std::int64_t step);
    void wait_until_issued(OperationId id, std::int64_t steps);
    void mark_issued(OperationId id, std::int64_t steps);
    void fail(std::exception_ptr error);

    const StepProgram& program_;
    Device& device_;
    Work work_;
    std::vector<State> states_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t submitted_ = 0;
    bool stopping_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace sluice
