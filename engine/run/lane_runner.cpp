#include "engine/run/lane_runner.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Thrown in the other lanes after one has failed.
struct Stopped {};

}  // namespace

LaneRunner::LaneRunner(const StepProgram& program, Device& device, Execute execute,
                       LaneChoice choose)
    : program_(program),
      device_(device),
      execute_(std::move(execute)),
      choose_(std::move(choose)),
      states_(program.operations.size()) {
    if (program.devices() > 1)
        throw InternalError("a plan of several devices needs a runner of several devices");
    // A start and an end of each operation, for a step and the previous one.
    device_.create_events(static_cast<int>(4 * program.operations.size()));
    for (OperationId id = 0; id < static_cast<OperationId>(program.operations.size()); ++id)
        queues_[at(id).lane].operations.push_back(id);
    if (choose_) return;
    try {
        start_threads();
    } catch (const std::system_error&) {  // the system has no more
        stop_threads();
        throw;
    }
}

LaneRunner::~LaneRunner() {
    stop_threads();
    device_.finish_all();  // copies use host memory that may be freed next
}

void LaneRunner::start_threads() {
    for (std::size_t i = 0; i < queues_.size(); ++i)
        if (!queues_[Lane::at(i)].operations.empty())
            threads_.emplace_back([this, i] { run_lane(Lane::at(i)); });
}

void LaneRunner::stop_threads() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

EventId LaneRunner::start_event(OperationId id, std::int64_t step) const {
    const auto operations = static_cast<std::int64_t>(program_.operations.size());
    return static_cast<EventId>(2 * ((step % 2) * operations + id));
}

void LaneRunner::submit() {
    {
        const std::lock_guard lock(mutex_);
        ++submitted_;
    }
    changed_.notify_all();
}

void LaneRunner::wait_until_issued(OperationId id, std::int64_t steps) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state(id).issued >= steps || error_ || stopping_; });
    if (state(id).issued < steps) throw Stopped();
}

void LaneRunner::mark_issued(OperationId id, std::int64_t steps) {
    {
        const std::lock_guard lock(mutex_);
        state(id).issued = steps;
    }
    changed_.notify_all();
}

void LaneRunner::fail(std::exception_ptr error) {
    {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
    }
    changed_.notify_all();
}

void LaneRunner::run_lane(Lane lane) {
    try {
        device_.attach_thread();
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                const std::int64_t step = queues_[lane].step();
                changed_.wait(lock, [&] { return submitted_ > step || error_ || stopping_; });
                if (submitted_ <= step || error_) return;
            }
            run_next(lane);
        }
    } catch (const Stopped&) {
    } catch (...) {
        fail(std::current_exception());
    }
}

void LaneRunner::run_next(Lane lane) {
    Queue& from = queues_[lane];
    run_operation(from.next(), from.step());
    ++from.done;
}

bool LaneRunner::is_ready(Lane lane) {
    const Queue& from = queues_[lane];
    if (from.operations.empty() || from.step() >= submitted_) return false;
    const Dependencies& waits = at(from.next()).waits_for;
    return std::all_of(waits.begin(), waits.end(), [&](const Dependency& wait) {
        return state(wait.operation).issued >= from.step() + (wait.previous_step ? 0 : 1);
    });
}

void LaneRunner::take_turns_until_issued(OperationId id, std::int64_t steps) {
    for (;;) {
        std::vector<Lane> ready;
        for (std::size_t i = 0; i < queues_.size(); ++i)
            if (is_ready(Lane::at(i))) ready.push_back(Lane::at(i));
        const bool must_wait = state(id).issued < steps;
        if (must_wait && ready.empty()) throw InternalError("the lanes wait for each other");
        const std::optional<Lane> lane = choose_(ready, must_wait);
        if (!lane) return;
        run_next(*lane);
    }
}

void LaneRunner::run_operation(OperationId id, std::int64_t step) {
    const Operation& op = at(id);
    const bool enqueued = on_device(op.lane);
    for (const Dependency& wait : op.waits_for) {
        const std::int64_t of_step = step - (wait.previous_step ? 1 : 0);
        if (of_step < 0) continue;
        wait_until_issued(wait.operation, of_step + 1);
        if (!on_device(at(wait.operation).lane)) continue;
        const EventId event = end_event(wait.operation, of_step);
        if (enqueued) {
            device_.wait(op.lane.work, event);
        } else {
            device_.synchronize(event);
        }
    }
    if (enqueued) {
        device_.record(op.lane.work, start_event(id, step));
        execute_(id, step);
        device_.record(op.lane.work, end_event(id, step));
    } else {
        const Seconds start = host_seconds();
        execute_(id, step);
        const Seconds end = host_seconds();
        const std::lock_guard lock(mutex_);
        state(id).host[static_cast<std::size_t>(step % 2)] = {start, end};
    }
    mark_issued(id, step + 1);
}

void LaneRunner::wait_for(OperationId operation) {
    const std::int64_t steps = submitted_;
    if (choose_) take_turns_until_issued(operation, steps);
    try {
        wait_until_issued(operation, steps);
    } catch (const Stopped&) {
        std::rethrow_exception(error_);
    }
    if (on_device(at(operation).lane)) device_.synchronize(end_event(operation, steps - 1));
}

void LaneRunner::finish() {
    if (submitted_ == 0) return;
    for (OperationId id = 0; id < static_cast<OperationId>(program_.operations.size()); ++id)
        wait_for(id);
}

std::vector<OperationInterval> LaneRunner::intervals_of_step_before() {
    const std::int64_t step = submitted_ - 2;
    if (step < 0) throw InternalError("no step before the last one");
    device_.align_clocks();
    std::vector<OperationInterval> out(program_.operations.size());
    for (OperationId id = 0; id < static_cast<OperationId>(program_.operations.size()); ++id) {
        OperationInterval& interval = out[static_cast<std::size_t>(id)];
        if (on_device(at(id).lane)) {
            interval = {device_.time_of(start_event(id, step)),
                        device_.time_of(end_event(id, step))};
        } else {
            const std::lock_guard lock(mutex_);
            interval = state(id).host[static_cast<std::size_t>(step % 2)];
        }
    }
    return out;
}

}  // namespace sluice
