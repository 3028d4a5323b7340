#include "engine/run/lane_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Operation operation(Lane lane, Dependencies waits = {}) {
    Operation op;
    op.lane = lane;
    op.waits_for = std::move(waits);
    return op;
}

/// Copy in, compute, copy out, update; the copy waits for the update of the step before.
StepProgram four_lanes() {
    StepProgram program;
    program.operations = {
        operation(Work::host_to_device, {{3, true}}), operation(Work::compute, {{0, false}}),
        operation(Work::device_to_host, {{1, false}}), operation(Work::optimizer, {{2, false}})};
    return program;
}

/// Operations of random lanes that wait for random ones before them, and for any of the step
/// before.
StepProgram random_program(std::mt19937& random) {
    const auto below = [&](int count) { return static_cast<int>(random() % unsigned(count)); };
    StepProgram program;
    const int count = 1 + below(12);
    for (int id = 0; id < count; ++id) {
        Operation op = operation(Lane::at(static_cast<std::size_t>(below(kWorkCount))));
        for (int waits = below(3); id > 0 && waits > 0; --waits)
            op.waits_for.push_back({below(id), false});
        if (below(3) == 0) op.waits_for.push_back({below(count), true});
        program.operations.push_back(std::move(op));
    }
    return program;
}

/// Notes what is done and whether anything began before what it waits for.
class Order {
  public:
    explicit Order(const StepProgram& program)
        : program_(program), done_(program.operations.size()) {}

    void work(OperationId id, std::int64_t step) {
        if (busy_[lane(id)].exchange(true)) ++faults_;
        if (steps_of(id) != step) ++faults_;
        for (const Dependency& wait : at(id).waits_for)
            if (steps_of(wait.operation) < step + (wait.previous_step ? 0 : 1)) ++faults_;
        for (OperationId other = 0; other < static_cast<OperationId>(done_.size()); ++other) {
            if (lane(other) != lane(id)) continue;
            if (steps_of(other) != step + (other < id ? 1 : 0)) ++faults_;
        }
        ++done_[static_cast<std::size_t>(id)];
        busy_[lane(id)] = false;
    }
    int faults() const { return faults_; }
    bool all_done(std::int64_t steps) const {
        return std::all_of(done_.begin(), done_.end(),
                           [&](const auto& done) { return done.load() == steps; });
    }

  private:
    const Operation& at(OperationId id) const {
        return program_.operations[static_cast<std::size_t>(id)];
    }
    std::size_t lane(OperationId id) const { return at(id).lane.index(); }
    std::int64_t steps_of(OperationId id) const { return done_[static_cast<std::size_t>(id)]; }

    const StepProgram& program_;
    std::vector<std::atomic<std::int64_t>> done_;
    std::array<std::atomic<bool>, kWorkCount> busy_{};
    std::atomic<int> faults_ = 0;
};

void sleep_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST_CASE("lane runner: operations keep the order of lanes and waits, in random programs",
          "[run]") {
    std::mt19937 random(3);
    const std::unique_ptr<Device> device = make_cpu_device(1);
    int faults = 0, unfinished = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const StepProgram program = random_program(random);
        Order order(program);
        LaneRunner runner(program, *device,
                          [&](OperationId id, std::int64_t step) { order.work(id, step); });
        for (int step = 0; step < 3; ++step) {
            runner.submit();
            if (random() % 2 == 0)
                runner.wait_for(static_cast<OperationId>(random() % program.operations.size()));
        }
        runner.finish();
        faults += order.faults();
        unfinished += order.all_done(3) ? 0 : 1;
    }
    CHECK(faults == 0);
    CHECK(unfinished == 0);
}

TEST_CASE("lane runner: lanes that take turns on the waiting thread keep the same order", "[run]") {
    std::mt19937 random(4);
    const std::unique_ptr<Device> device = make_cpu_device(1);
    int faults = 0, unfinished = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const StepProgram program = random_program(random);
        Order order(program);
        const auto thread = std::this_thread::get_id();
        LaneRunner runner(
            program, *device,
            [&](OperationId id, std::int64_t step) {
                order.work(id, step);
                faults += std::this_thread::get_id() == thread ? 0 : 1;
            },
            [&](std::span<const Lane> ready, bool must_wait) {
                const std::size_t choices = ready.size() + (must_wait ? 0 : 1);
                const std::size_t choice = random() % choices;
                return choice < ready.size() ? std::optional(ready[choice]) : std::nullopt;
            });
        for (int step = 0; step < 3; ++step) {
            runner.submit();
            if (random() % 2 == 0)
                runner.wait_for(static_cast<OperationId>(random() % program.operations.size()));
        }
        runner.finish();
        faults += order.faults();
        unfinished += order.all_done(3) ? 0 : 1;
    }
    CHECK(faults == 0);
    CHECK(unfinished == 0);
}

TEST_CASE("lane runner: lanes that take turns say so if all of them wait", "[run]") {
    StepProgram program = four_lanes();
    program.operations.front().waits_for = {{3, false}};
    const std::unique_ptr<Device> device = make_cpu_device(1);
    LaneRunner runner(
        program, *device, [](OperationId, std::int64_t) {},
        [](std::span<const Lane> ready, bool) { return std::optional(ready.front()); });
    runner.submit();
    CHECK_THROWS_AS(runner.wait_for(0), InternalError);
}

TEST_CASE("lane runner: an operation waits for that of the step before, however slow", "[run]") {
    const StepProgram program = four_lanes();
    const std::unique_ptr<Device> device = make_cpu_device(1);
    Order order(program);
    LaneRunner runner(program, *device, [&](OperationId id, std::int64_t step) {
        if (id == 3) sleep_ms(5);
        order.work(id, step);
    });
    for (int step = 0; step < 4; ++step) runner.submit();
    runner.finish();
    CHECK(order.faults() == 0);
    CHECK(order.all_done(4));
    CHECK(runner.next_step() == 4);
}

TEST_CASE("lane runner: what a lane throws reaches wait_for and finish, from every lane", "[run]") {
    const StepProgram program = four_lanes();
    const std::unique_ptr<Device> device = make_cpu_device(1);
    for (OperationId broken = 0; broken < 4; ++broken) {
        for (const std::int64_t at_step : {0, 1}) {
            LaneRunner runner(program, *device, [&](OperationId id, std::int64_t step) {
                if (id == broken && step == at_step) throw std::runtime_error("the copy broke");
            });
            for (std::int64_t step = 0; step < at_step; ++step) {
                runner.submit();
                runner.finish();
            }
            runner.submit();
            CAPTURE(broken, at_step);
            CHECK_THROWS_WITH(runner.wait_for(3), "the copy broke");
            CHECK_THROWS_WITH(runner.wait_for(broken), "the copy broke");
            CHECK_THROWS_WITH(runner.finish(), "the copy broke");
            runner.submit();  // nothing runs any more, and nothing hangs
            CHECK_THROWS_WITH(runner.wait_for(0), "the copy broke");
        }
    }
}

TEST_CASE("lane runner: can be destroyed while work is pending", "[run]") {
    const StepProgram program = four_lanes();
    const std::unique_ptr<Device> device = make_cpu_device(1);
    for (int delay = 0; delay < 20; ++delay) {
        std::atomic<int> running = 0;
        {
            LaneRunner runner(program, *device, [&](OperationId, std::int64_t) {
                ++running;
                sleep_ms(1);
                --running;
            });
            if (delay > 0) runner.submit();
            if (delay > 1) runner.submit();
            sleep_ms(delay / 4);
        }
        CHECK(running == 0);
    }
}

TEST_CASE("lane runner: without a step there is nothing to finish and no interval", "[run]") {
    const StepProgram program = four_lanes();
    const std::unique_ptr<Device> device = make_cpu_device(1);
    LaneRunner runner(program, *device, [](OperationId, std::int64_t) {});
    runner.finish();
    CHECK_THROWS_AS(runner.intervals_of_step_before(), InternalError);
    runner.submit();
    runner.finish();
    CHECK_THROWS_AS(runner.intervals_of_step_before(), InternalError);
}

TEST_CASE("lane runner: intervals are those of the step before, each after what it waits for",
          "[run]") {
    const StepProgram program = four_lanes();
    const std::unique_ptr<Device> device = make_cpu_device(1);
    LaneRunner runner(program, *device, [](OperationId, std::int64_t) { sleep_ms(2); });
    std::array<Seconds, 4> began{};
    for (std::size_t step = 0; step < began.size(); ++step) {
        began[step] = host_seconds();
        runner.submit();
        runner.finish();
        if (step == 0) continue;
        const std::vector<OperationInterval> intervals = runner.intervals_of_step_before();
        REQUIRE(intervals.size() == 4);
        CHECK(intervals.front().start >= began[step - 1]);
        CHECK(intervals.back().end <= began[step]);
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            CHECK(intervals[i].end - intervals[i].start >= 0.002);
            if (i > 0) CHECK(intervals[i].start >= intervals[i - 1].end);
        }
    }
}
