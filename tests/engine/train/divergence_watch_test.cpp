#include "engine/train/divergence_watch.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr std::int64_t kVocabulary = 256;  // its logarithm is 5.545
constexpr std::int64_t kTargets = 64;

/// A watch, told one step after another.
struct Run {
    DivergenceWatch watch{kVocabulary};
    std::int64_t step = 0;

    void add(double loss, double norm, std::int64_t targets = kTargets) {
        watch.add(++step, loss, norm, targets);
    }
    /// Steps up to `last` of about the same loss and norm: they vary by 4% and 40%.
    void calm(std::int64_t last, double loss, double norm) {
        while (step < last) {
            const double wave = std::sin(static_cast<double>(step + 1));
            add(loss * (1 + 0.04 * wave), norm * (1 + 0.4 * wave));
        }
    }
    std::optional<std::int64_t> since() const { return watch.memory().far_worse_since(); }
};

}  // namespace

TEST_CASE("divergence watch: a calm run has no rise, nor has a slow change", "[train]") {
    Run run;
    while (run.step < 1000) {
        const auto step = static_cast<double>(run.step + 1);
        const double wave = std::sin(step);
        run.add(1 + 5 / std::sqrt(step) * (1 + 0.04 * wave),
                20 / std::sqrt(step) * (1 + 0.4 * wave));
        CHECK_FALSE(run.since());
        CHECK_FALSE(run.watch.has_diverged());
    }
}

TEST_CASE("divergence watch: a rise begins where the norm left its usual range", "[train]") {
    Run run;
    run.calm(60, 2.5, 1);
    while (run.step < 70) run.add(2.5, std::pow(1.5, static_cast<double>(run.step - 59)));
    REQUIRE(run.since());
    CHECK(*run.since() >= 61);
    CHECK(*run.since() <= 63);  // 1.5^3 is above twice, with the norm's variation
    const std::int64_t since = *run.since();
    // The loss is as it was: the run goes on.
    CHECK_FALSE(run.watch.has_diverged());
    run.add(2.5, INFINITY);
    CHECK(run.since() == since);
    CHECK(run.watch.has_diverged());
}

TEST_CASE("divergence watch: a single high norm or loss is over with the next", "[train]") {
    Run run;
    run.calm(60, 2.5, 1);
    run.add(4, 50);
    CHECK(run.since() == 61);
    CHECK_FALSE(run.watch.has_diverged());
    run.calm(62, 2.5, 1);
    CHECK_FALSE(run.since());
    CHECK_FALSE(run.watch.memory().worse_since());
}

TEST_CASE("divergence watch: numbers that are not finite are worse, even in the first step",
          "[train]") {
    Run run;
    run.add(5, INFINITY);
    CHECK(run.since() == 1);
    Run other;
    other.add(std::nan(""), 1);
    CHECK(other.since() == 1);
}

TEST_CASE("divergence watch: a high loss stays worse until one is as good", "[train]") {
    Run run;
    run.calm(100, 2.5, 1);
    // The norm's memory has taken 26 times as much for usual long before the end.
    run.calm(400, 4, 26);
    CHECK(run.since() == 101);
    CHECK(run.watch.has_diverged());
    run.calm(401, 2.5, 26);
    CHECK_FALSE(run.since());
    CHECK_FALSE(run.watch.has_diverged());
}

TEST_CASE("divergence watch: the fall at the beginning is no deviation", "[train]") {
    Run run;
    while (run.step < 100) {
        const double fall = std::exp(-static_cast<double>(run.step) / 15);
        run.add(2.5 + 3 * fall + 0.03 * std::sin(static_cast<double>(run.step)), 1);
    }
    CHECK_FALSE(run.since());
    // Between the losses that it had and those of the good steps.
    run.calm(105, 9.6, 1);
    run.calm(120, 4, 1);
    CHECK(run.since() == 101);
    CHECK(run.watch.has_diverged());
}

TEST_CASE("divergence watch: the loss of a model that knows nothing is a divergence", "[train]") {
    Run run;
    run.calm(50, 4, 1);
    run.add(std::log(256.0), 0.9);
    CHECK(run.since() == 51);
    CHECK_FALSE(run.watch.has_diverged());  // it may be one odd batch
    run.add(std::log(256.0), 0.9);
    CHECK(run.watch.has_diverged());
    // At the start of a run it is the usual one.
    Run fresh;
    fresh.calm(50, std::log(256.0), 1);
    CHECK_FALSE(fresh.since());
}

TEST_CASE("divergence watch: no gradient after others is one of a dead model", "[train]") {
    Run run;
    run.calm(10, 5.4, 1);
    run.add(std::log(256.0), 0);
    CHECK(run.since() == 11);
    CHECK(run.watch.has_diverged());
    run.calm(12, 5.4, 1);
    CHECK_FALSE(run.since());
    // A batch without targets tells nothing, nor does a model that never had a gradient.
    run.add(0, 0, 0);
    CHECK_FALSE(run.since());
    Run still;
    for (int i = 0; i < 3; ++i) still.add(5.545, 0);
    CHECK_FALSE(still.since());
}

TEST_CASE("divergence watch: few steps that are alike make no judge of the next", "[train]") {
    Run run;
    for (const double loss : {0.9, 1.0, 0.95, 1.0, 0.92}) run.add(loss, 1);
    for (int i = 0; i < 20; ++i) run.add(i % 2 == 0 ? 1.5 : 0.9, 1);
    CHECK_FALSE(run.watch.has_diverged());
}

TEST_CASE("divergence watch: batches of two kinds are no divergence", "[train]") {
    for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(seed);
        std::mt19937 random(seed);  // its numbers are the same everywhere
        const auto below_one = [&] { return static_cast<double>(random()) / 4294967296.0; };
        Run run;
        int told = 0;
        for (int i = 0; i < 2000; ++i) {
            const bool is_odd = i >= 5 && below_one() < 0.2;
            run.add(is_odd ? 2.0 : 0.6 * (0.94 + 0.12 * below_one()), 1);
            told += run.watch.has_diverged() ? 1 : 0;
        }
        CHECK(told == 0);
    }
}

TEST_CASE("divergence watch: losses that get far worse are told in the third step", "[train]") {
    for (const double loss : {4.0, 5.5, 66.0}) {
        CAPTURE(loss);
        Run run;
        run.calm(100, 2.5, 1);
        while (!run.watch.has_diverged() && run.step < 200) run.add(loss, 1);
        CHECK(run.step == (loss > 5.49 ? 102 : 103));
        CHECK(run.since() == 101);
    }
}

TEST_CASE("divergence watch: one odd batch does not hide a divergence after it", "[train]") {
    Run run;
    run.calm(100, 2.5, 1);
    run.add(66, 30);
    run.calm(121, 2.5, 1);
    for (int i = 0; i < 3; ++i) run.add(4, 1);
    CHECK(run.since() == 122);
    CHECK(run.watch.has_diverged());
}

TEST_CASE("divergence watch: without a memory it learns from the last steps", "[train]") {
    std::vector<RecentStep> recent(10, {2.5, 1});
    recent.push_back({66, 30});
    Run run;
    run.watch.continue_from({}, recent);
    CHECK_FALSE(run.watch.memory().worse_since());
    CHECK_FALSE(run.watch.has_diverged());
    run.step = 400;
    run.add(66, 30);
    CHECK(run.since() == 401);
    // One that has a memory needs no more.
    Run other;
    other.watch.continue_from(run.watch.memory(), recent);
    CHECK(other.watch.memory() == run.watch.memory());
}

TEST_CASE("divergence watch: a run that goes on judges its first step", "[train]") {
    Run before;
    before.calm(150, 2.5, 1);
    Run after;
    after.watch.continue_from(before.watch.memory());
    after.step = before.step;
    after.calm(151, 2.5, 1);
    before.calm(151, 2.5, 1);
    CHECK(after.watch.memory() == before.watch.memory());
    after.add(66, 30);
    CHECK(after.since() == 152);
    after.add(60, 20);
    CHECK(after.watch.has_diverged());
}
