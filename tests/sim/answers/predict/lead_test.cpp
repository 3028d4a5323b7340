#include "sim/answers/predict/lead.h"

#include <cmath>

#include "tests/catch.h"

using namespace sluice;

namespace {

const ErrorSource kLink{.machine = "box", .group = RateGroup::link};
const ErrorSource kKernels{.machine = "box", .group = RateGroup::kernels};

/// A step of 1 s with these errors. Each error moves the logarithm of the step by `more` either
/// way.
Prediction step_with(const std::vector<std::pair<ErrorSource, double>>& errors) {
    Prediction report;
    report.step.seconds = 1;
    report.band = Band{0.5, 2};
    for (const auto& [source, more] : errors)
        report.band->errors.push_back({source, std::expm1(more), std::expm1(-more)});
    return report;
}

}  // namespace

TEST_CASE("lead: an error that both share cancels", "[simulate]") {
    const Prediction a = step_with({{kLink, 0.3}, {kKernels, 0.1}});
    const Prediction b = step_with({{kLink, 0.3}});
    // 1.6448536 standard deviations are 0.1: as far ahead as the 95%.
    CHECK(lead_holds(std::exp(0.1), a, b) == Approx(0.95));
    CHECK(lead_holds(std::exp(-0.1), a, b) == Approx(0.05));
    CHECK(lead_holds(1, a, b) == Approx(0.5));
    CHECK(lead_holds(1.001, b, b) == 1);
    CHECK(lead_holds(1, b, b) == 0.5);
}

TEST_CASE("lead: errors of different machines add up", "[simulate]") {
    ErrorSource elsewhere = kLink;
    elsewhere.machine = "other";
    const Prediction a = step_with({{kLink, 0.3}});
    const Prediction b = step_with({{elsewhere, 0.4}});
    CHECK(lead_holds(std::exp(0.5), a, b) == Approx(0.95));  // 3, 4, 5
    CHECK(lead_holds(std::exp(-0.5), b, a) == Approx(0.05));
}

TEST_CASE("lead: only errors against the lead count", "[simulate]") {
    Prediction a = step_with({});
    a.band->errors = {{kLink, std::expm1(0.1), std::expm1(-0.4)}};
    const Prediction b = step_with({{kKernels, 0}});
    CHECK(lead_holds(std::exp(0.1), a, b) == Approx(0.95));
    CHECK(lead_holds(std::exp(-0.4), a, b) == Approx(0.05));
}

TEST_CASE("lead: a band without errors is one error of its own", "[simulate]") {
    Prediction a = step_with({}), b = step_with({});
    a.band = Band{std::exp(-0.3), std::exp(0.3)};
    b.band = Band{std::exp(-0.4), std::exp(0.4)};
    CHECK(lead_holds(std::exp(0.5), a, b) == Approx(0.95));
}
