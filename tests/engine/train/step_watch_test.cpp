#include "engine/train/step_watch.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("step watch: seconds and joules from one reading to the next", "[train]") {
    Seconds now = 100;
    std::optional<double> joules = 7000;
    StepWatch watch([&] { return now; });
    watch.read_energy([&] { return joules; });
    watch.restart();
    const auto step = [&](Seconds seconds, double energy) {
        now += seconds;
        if (joules) *joules += energy;
        return watch.after_step();
    };
    for (int warm_up = 0; warm_up < 3; ++warm_up) {
        const StepWatch::Passed passed = step(2, 100);
        CHECK(passed.seconds == 2);
        CHECK(passed.gpu_joules == 100);
    }
    CHECK_FALSE(watch.gpu_watts());  // the first three warm the GPU up
    step(1, 600);
    CHECK_FALSE(watch.gpu_watts());  // less than two seconds
    step(1, 700);
    CHECK(watch.gpu_watts() == 650);
    // Work between two steps belongs to no step.
    now += 50;
    *joules += 9000;
    watch.restart();
    step(2, 1300);
    CHECK(watch.gpu_watts() == 650);
    joules.reset();
    CHECK_FALSE(step(1, 0).gpu_joules);
}

TEST_CASE("step watch: without a counter there are no joules", "[train]") {
    Seconds now = 0;
    StepWatch watch([&] { return now += 1; });
    watch.restart();
    CHECK_FALSE(watch.after_step().gpu_joules);
    CHECK_FALSE(watch.gpu_watts());
}

}  // namespace sluice
