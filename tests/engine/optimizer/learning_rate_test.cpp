#include "engine/optimizer/learning_rate.h"

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("learning rate: warm-up rises in equal parts to the peak", "[optimizer]") {
    LearningRateSchedule schedule{8.0, 0.1, 4, 100, LearningRateKind::cosine};
    CHECK(learning_rate_at(schedule, 1) == Approx(2));
    CHECK(learning_rate_at(schedule, 3) == Approx(6));
    CHECK(learning_rate_at(schedule, 4) == Approx(8));
    schedule.warmup_steps = 0;
    schedule.kind = LearningRateKind::constant;
    CHECK(learning_rate_at(schedule, 1) == Approx(8));
}

TEST_CASE("learning rate: after the warm-up it falls to the final fraction", "[optimizer]") {
    LearningRateSchedule schedule{8.0, 0.25, 20, 100, LearningRateKind::cosine};
    // A quarter of the fall: 2 + 6 x (1 + cos 45 degrees) / 2.
    CHECK(learning_rate_at(schedule, 40) == Approx(7.1213203));
    CHECK(learning_rate_at(schedule, 60) == Approx(5));
    CHECK(learning_rate_at(schedule, 100) == Approx(2));
    CHECK(learning_rate_at(schedule, 1000) == Approx(2));
    schedule.kind = LearningRateKind::linear;
    CHECK(learning_rate_at(schedule, 40) == Approx(6.5));
    CHECK(learning_rate_at(schedule, 60) == Approx(5));
    CHECK(learning_rate_at(schedule, 100) == Approx(2));
    schedule.kind = LearningRateKind::constant;
    CHECK(learning_rate_at(schedule, 10) == Approx(4));
    CHECK(learning_rate_at(schedule, 100) == Approx(8));
}

TEST_CASE("learning rate: wsd stays at the peak and falls in the last steps", "[optimizer]") {
    LearningRateSchedule schedule{8.0, 0.25, 10, 100, LearningRateKind::wsd, 0.2};
    CHECK(learning_rate_at(schedule, 5) == Approx(4));
    CHECK(learning_rate_at(schedule, 10) == Approx(8));
    CHECK(learning_rate_at(schedule, 80) == Approx(8));
    CHECK(learning_rate_at(schedule, 90) == Approx(5));
    CHECK(learning_rate_at(schedule, 100) == Approx(2));
    CHECK(learning_rate_at(schedule, 101) == Approx(2));
    // A fall that begins within the warm-up begins at its end.
    schedule.decay_share = 1;
    CHECK(learning_rate_at(schedule, 10) == Approx(8));
    CHECK(learning_rate_at(schedule, 55) == Approx(5));
    schedule.decay_share = 0;
    CHECK(learning_rate_at(schedule, 99) == Approx(8));
    schedule.decay_share = 2;
    CHECK_THROWS_WITH(learning_rate_at(schedule, 1),
                      ContainsSubstring("decay_share is 2, expected 0 to 1"));
}

TEST_CASE("learning rate: inverse-sqrt falls as transformers has it", "[optimizer]") {
    LearningRateSchedule schedule{8.0, 0.1, 25, 100, LearningRateKind::inverse_sqrt};
    CHECK(learning_rate_at(schedule, 5) == Approx(1.6));
    CHECK(learning_rate_at(schedule, 25) == Approx(8));
    CHECK(learning_rate_at(schedule, 100) == Approx(4));
    CHECK(learning_rate_at(schedule, 400) == Approx(2));
    schedule.warmup_steps = 0;
    CHECK(learning_rate_at(schedule, 1) == Approx(8));
    CHECK(learning_rate_at(schedule, 30'001) == Approx(4));
}

TEST_CASE("learning rate: a warm-up of all steps ends at the peak", "[optimizer]") {
    const LearningRateSchedule schedule{1.0, 0.1, 10, 10, LearningRateKind::linear};
    CHECK(learning_rate_at(schedule, 9) == Approx(0.9));
    CHECK(learning_rate_at(schedule, 10) == Approx(1));
    CHECK(learning_rate_at(schedule, 11) == Approx(0.1));
}

TEST_CASE("learning rate: schedules without sense are refused by field and value", "[optimizer]") {
    const auto at = [](double peak, double final_fraction, int warmup, int total) {
        return learning_rate_at({peak, final_fraction, warmup, total, LearningRateKind::cosine}, 1);
    };
    CHECK_THROWS_AS(at(-1, 0.1, 0, 10), InputError);
    CHECK_THROWS_WITH(at(-1, 0.1, 0, 10), ContainsSubstring("peak is -1"));
    CHECK_THROWS_WITH(at(1, 1.5, 0, 10),
                      ContainsSubstring("final_fraction is 1.5, expected 0 to 1"));
    CHECK_THROWS_WITH(at(1, 0.1, 11, 10), ContainsSubstring("warmup_steps is 11"));
    CHECK_THROWS_WITH(at(1, 0.1, 0, 0), ContainsSubstring("total_steps is 0"));
    CHECK_THROWS_AS(learning_rate_at({}, 0), InternalError);
}
