// How does a measured report describe the steps behind its median?
#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/sim/report/one_layer_report.h"

using namespace sluice;

namespace {

TimedPlan measured(int steps) {
    TimedPlan out = one_layer_report();
    out.step.measured.emplace();
    out.step.measured->steps = steps;
    out.step.measured->low = 0.5;
    out.step.measured->high = 2;
    return out;
}

}  // namespace

TEST_CASE("measured report: few steps have a fastest and a slowest, many a range", "[report]") {
    CHECK_THAT(report_text(measured(20)),
               ContainsSubstring("; nine in ten steps took 500.0 ms to 2.00 s\n"));
    CHECK_THAT(report_text(measured(19)),
               ContainsSubstring("; fastest and slowest of 19: 500.0 ms to 2.00 s\n"));
    CHECK_THAT(report_text(measured(1)), ContainsSubstring("tokens/s; of one step\n"));
}

TEST_CASE("measured report: JSON has the number of steps and the precision", "[report]") {
    TimedPlan report = measured(7);
    report.step.measured->activations = Precision::fp32;
    const auto json = nlohmann::json::parse(report_json(report));
    CHECK(json["steps_measured"] == 7);
    CHECK(json["precision"] == "fp32");
    CHECK(json["activations"] == "fp32");
    report.step.measured.reset();
    const auto predicted = nlohmann::json::parse(report_json(report));
    CHECK_FALSE(predicted.contains("steps_measured"));
    CHECK(predicted["precision"] == "bf16");
    CHECK(predicted["activations"] == "bf16");
    report.asked.training.compute = Compute::fp8;
    const auto fp8 = nlohmann::json::parse(report_json(report));
    CHECK(fp8["precision"] == "fp8");
    CHECK(fp8["activations"] == "bf16");
}
