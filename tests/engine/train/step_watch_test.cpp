#include "engine/train/step_watch.h"

#include <chrono>
#include <thread>

#include "tests/catch.h"

namespace sluice {

TEST_CASE("step watch: a step lasts from one reading to the next", "[train]") {
    StepWatch watch;
    watch.restart();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(watch.after_step().seconds >= 0.02);
    CHECK(watch.after_step().seconds >= 0);
    // There are no steps of two seconds yet.
    CHECK_FALSE(watch.gpu_watts().has_value());
}

}  // namespace sluice
