// Does an expected step follow the rates of a host as the planner simulated it?
#include "engine/train/expected_rates.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

/// 2 s; an optimizer at half its rate adds 1 s, a link at half its rate 0.25 s.
ExpectedRates expected() {
    return {2,
            {5e9, 50e9, 40e9},
            Interpolated({{0.5, 3.0}, {1, 2.0}, {1.5, 1.9}}),
            Interpolated({{0.5, 2.25}, {1, 2.0}, {1.5, 2.0}})};
}

}  // namespace

TEST_CASE("expected rates: the step at today's rates", "[train]") {
    CHECK(step_at(expected(), {5e9, 50e9, 40e9}) == Approx(2));
    CHECK(step_at(expected(), {2.5e9, 50e9, 40e9}) == Approx(3));
    CHECK(step_at(expected(), {7.5e9, 50e9, 40e9}) == Approx(1.9));
    // The slower direction counts.
    CHECK(step_at(expected(), {5e9, 25e9, 40e9}) == Approx(2.25));
    CHECK(step_at(expected(), {5e9, 50e9, 20e9}) == Approx(2.25));
    CHECK(step_at(expected(), {2.5e9, 25e9, 40e9}) == Approx(3.25));
}

TEST_CASE("expected rates: both rates and both steps are said", "[train]") {
    const std::string text = rates_text(expected(), {2.5e9, 49e9, 41e9});
    for (const char* words :
         {"AdamW: 5.00 Gparam/s in the profile, 2.50 today",
          "50.0 GB/s to the device and 40.0 to the host in the profile, 49.0 and 41.0 today",
          "expected: 2.00 s a step, 3.0"})
        CHECK_THAT(text, ContainsSubstring(words));
}
