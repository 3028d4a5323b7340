// Is a spike one that stands out from the steps before it?
#include "engine/train/spike_watch.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace sluice;

namespace {

/// Losses of 2.9 and 3.1, norms of 0.9 and 1.1, in turn.
void add_calm_steps(SpikeWatch& watch, int steps) {
    for (int i = 0; i < steps; ++i)
        watch.add(i % 2 == 0 ? RecentStep{2.9, 1.1} : RecentStep{3.1, 0.9});
}

}  // namespace

TEST_CASE("spike watch: limits are deviations above the mean, from the 64th step on", "[train]") {
    SpikeWatch watch(6);
    add_calm_steps(watch, 63);
    CHECK(std::isinf(watch.limits().loss));
    watch.add({3.1, 0.9});
    CHECK(std::isfinite(watch.limits().loss));
    add_calm_steps(watch, 64);
    const double deviation = 0.1 * std::sqrt(128.0 / 127);
    CHECK(watch.limits().loss == Approx(3 + 6 * deviation));
    CHECK(watch.limits().gradient_norm == Approx(1 + 6 * deviation));
}

TEST_CASE("spike watch: steps that are not finite or without targets do not count", "[train]") {
    SpikeWatch watch(6);
    add_calm_steps(watch, 100);
    const StepLimits before = watch.limits();
    watch.add({std::numeric_limits<double>::quiet_NaN(), 1});
    watch.add({1, std::numeric_limits<double>::infinity()});
    watch.add({0, 0});
    CHECK(watch.limits().loss == before.loss);
    CHECK(watch.recent().size() == 100);
}

TEST_CASE("spike watch: a loss that stays high is accepted in the end", "[train]") {
    SpikeWatch watch(6);
    add_calm_steps(watch, 128);
    int spikes = 0;
    for (int i = 0; i < 128; ++i) {
        spikes += 5.0 > watch.limits().loss ? 1 : 0;
        watch.add({5, 1});
    }
    CHECK(spikes > 0);
    CHECK(spikes < 20);
    CHECK(watch.recent().size() == 128);
}

TEST_CASE("spike watch: goes on with what was saved", "[train]") {
    SpikeWatch one(3), other(3);
    add_calm_steps(one, 90);
    other.continue_from(one.recent());
    add_calm_steps(one, 90);
    add_calm_steps(other, 90);
    CHECK(other.recent() == one.recent());
    CHECK(other.limits().loss == one.limits().loss);
}
