#include "engine/train/ahead_rule.h"

#include <algorithm>
#include <functional>
#include <string>

#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr std::int64_t kSteps = 2000;

/// Whether a step is clipped; `ahead`: it expects not to be.
using Clips = std::function<bool(std::int64_t step, bool ahead)>;

struct Ran {
    std::vector<bool> ahead, corrected;
    std::int64_t count_ahead() const { return std::count(ahead.begin(), ahead.end(), true); }
};

Ran run(const Clips& clips, AheadState state = {.allowed = true}) {
    AheadRule rule(std::move(state));
    Ran out;
    for (std::int64_t step = 0; step < kSteps; ++step) {
        const bool ahead = rule.next_is_ahead(), clipped = clips(step, ahead);
        rule.add(ahead, clipped);
        out.ahead.push_back(ahead);
        out.corrected.push_back(ahead && clipped);
    }
    return out;
}

/// The largest share of time that any 200 steps lose, if no step gains.
double most_lost(const Ran& ran) {
    constexpr std::int64_t kWindow = 200;
    constexpr double kCorrection = 1.7;  // in steps that wait
    double most = 0;
    for (std::int64_t first = 0; first + kWindow <= kSteps; ++first) {
        const auto begin = ran.corrected.begin() + first;
        most = std::max(most, kCorrection *
                                  static_cast<double>(std::count(begin, begin + kWindow, true)) /
                                  static_cast<double>(kWindow));
    }
    return most;
}

const Clips kAlways = [](std::int64_t, bool) { return true; };
const Clips kNever = [](std::int64_t, bool) { return false; };
/// An adversary that knows the rule.
const Clips kWorst = [](std::int64_t, bool ahead) { return ahead; };

Clips every(std::int64_t k) {
    return [k](std::int64_t step, bool) { return step % k == k - 1; };
}
/// `calm` steps, then as many clipped ones.
Clips bursts(std::int64_t calm) {
    return [calm](std::int64_t step, bool) { return step / calm % 2 == 1; };
}

}  // namespace

TEST_CASE("ahead rule: no 200 steps lose more than 1.7%, whatever the gradients do", "[train]") {
    constexpr double kMost = 0.017 + 1e-9;  // two corrections
    CHECK(most_lost(run(kAlways)) == 0);
    CHECK(run(kAlways).count_ahead() == 0);
    CHECK(most_lost(run(kWorst)) > 0.01);  // the limit is met by somebody
    CHECK(most_lost(run(kWorst)) <= kMost);
    for (std::int64_t k = 1; k <= 400; ++k) {
        CAPTURE(k);
        CHECK(most_lost(run(every(k))) <= kMost);
        CHECK(most_lost(run(bursts(k))) <= kMost);
    }
}

TEST_CASE("ahead rule: what seldom clips is ahead nearly always", "[train]") {
    CHECK(run(kNever).count_ahead() == kSteps - AheadRule::kCalm);
    CHECK(run(every(2)).count_ahead() == 0);
    // After a clipped step, as at the start, the run waits for a few.
    CHECK(run(every(200)).count_ahead() == kSteps - AheadRule::kCalm * (kSteps / 200));
    // The first 1,000 steps are clipped: warm-up.
    const Ran after_warm_up = run([](std::int64_t step, bool) { return step < 1000; });
    CHECK(after_warm_up.count_ahead() == kSteps - 1000 - AheadRule::kCalm);
}

TEST_CASE("ahead rule: a run that gains nothing waits", "[train]") {
    CHECK(run(kNever, {}).count_ahead() == 0);
}

TEST_CASE("ahead rule: it goes on from what was saved", "[train]") {
    for (const Clips& clips : {every(30), every(67), kWorst}) {
        AheadRule whole({.allowed = true}), broken({.allowed = true});
        for (std::int64_t step = 0; step < kSteps; ++step) {
            broken = AheadRule(AheadState(broken.state()));
            const bool ahead = whole.next_is_ahead();
            REQUIRE(broken.next_is_ahead() == ahead);
            whole.add(ahead, clips(step, ahead));
            broken.add(ahead, clips(step, ahead));
        }
    }
}
