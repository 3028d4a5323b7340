#include "engine/train/norm_watch.h"

#include <cmath>

#include "tests/catch.h"

using namespace sluice;

namespace {

/// Steps `first` to `last` of about the same norm, which varies by 40%.
void calm(NormWatch& watch, std::int64_t first, std::int64_t last, double norm) {
    for (std::int64_t step = first; step <= last; ++step)
        watch.add(step, norm * (1 + 0.4 * std::sin(static_cast<double>(step))));
}

}  // namespace

TEST_CASE("norm watch: a calm run has no rise, nor has a slow change", "[train]") {
    NormWatch watch;
    for (std::int64_t step = 1; step <= 1000; ++step) {
        watch.add(step, 20 / std::sqrt(static_cast<double>(step)) *
                            (1 + 0.4 * std::sin(static_cast<double>(step))));
        CHECK_FALSE(watch.rising_since());
    }
}

TEST_CASE("norm watch: a rise begins where the norm left its usual range", "[train]") {
    NormWatch watch;
    calm(watch, 1, 60, 1);
    for (std::int64_t step = 61; step <= 70; ++step)
        watch.add(step, std::pow(1.5, static_cast<double>(step - 60)));
    REQUIRE(watch.rising_since());
    CHECK(*watch.rising_since() >= 61);
    CHECK(*watch.rising_since() <= 63);  // 1.5^3 is above twice, with the norm's variation
    const std::int64_t since = *watch.rising_since();
    watch.add(71, INFINITY);
    CHECK(watch.rising_since() == since);
}

TEST_CASE("norm watch: a single high norm is over with the next", "[train]") {
    NormWatch watch;
    calm(watch, 1, 60, 1);
    watch.add(61, 50);
    CHECK(watch.rising_since() == 61);
    calm(watch, 62, 62, 1);
    CHECK_FALSE(watch.rising_since());
}

TEST_CASE("norm watch: a norm that is not known is a rise, even in the first step", "[train]") {
    NormWatch watch;
    watch.add(1, INFINITY);
    CHECK(watch.rising_since() == 1);
}
