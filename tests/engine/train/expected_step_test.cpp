// Is a prediction read as it was written, compared with the measured step, and changed as the rates
// of the host ask?
#include "engine/train/expected_step.h"

#include <fstream>

#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"

using namespace sluice;

namespace {

const std::string kPrediction = R"({
  "model": {"name": "qwen2.5-0.5b", "parameters": 494032768},
  "training": {"schedule": "streamed", "batch": 4, "seq": 512, "checkpoint_interval": 4, "recompute": "none"},
  "fits": true, "measured": false, "step_s": 2.0,
  "device_peak_bytes": 1000000000, "host_peak_bytes": 3000000000,
  "lanes": {"compute": {"busy_s": 1.5, "exposed_s": null},
            "optimizer": {"busy_s": 1.0, "exposed_s": 0.25}}})";

struct File {
    explicit File(const std::string& text) { std::ofstream(name) << text; }
    test::TemporaryFolder folder;
    std::string name = (folder.path / "plan.json").string();
};

std::string with(std::string from, const std::string& to) {
    std::string out = kPrediction;
    return out.replace(out.find(from), from.size(), to);
}

TimedPlan measured() {
    TimedPlan out;
    out.asked.training.batch = 4;
    out.step.seconds = 2.1;
    out.step.lanes[Work::compute].busy = 1.52;
    out.step.lanes[Work::optimizer] = {1.1, 0.33};
    out.step.measured = Measurement{.device = 990'000'000, .host = 3'030'000'000};
    return out;
}

/// 2 s; an optimizer at half its rate adds 1 s, a link at half its rate 0.25 s.
ExpectedRates two_seconds() {
    return {2,
            {5e9, 50e9, 40e9},
            Interpolated({{0.5, 3.0}, {1, 2.0}, {1.5, 1.9}}),
            Interpolated({{0.5, 2.25}, {1, 2.0}, {1.5, 2.0}})};
}

}  // namespace

TEST_CASE("expected step: settings, memory and lanes of the prediction", "[train]") {
    const ExpectedStep expected = read_expected_step(File(kPrediction).name);
    // Options that the schedule does not have are left out.
    CHECK(expected.training ==
          std::map<std::string, std::string>{
              {"schedule", "streamed"}, {"batch", "4"}, {"seq", "512"}, {"recompute", "none"}});
    CHECK(expected.step == 2.0);
    CHECK(expected.host == 3'000'000'000);
    REQUIRE(expected.lanes[Work::optimizer]);
    CHECK(expected.lanes[Work::optimizer]->exposed == 0.25);
    CHECK_FALSE(expected.lanes[Work::host_to_device]);
    CHECK_NOTHROW(check_expected_model(expected, read_model("qwen2.5-0.5b")));
    CHECK_THROWS_WITH(check_expected_model(expected, read_model("qwen2.5-1.5b")),
                      ContainsSubstring("494032768 parameters"));
}

TEST_CASE("expected step: the host's rates, and the step at others", "[train]") {
    CHECK_FALSE(read_expected_step(File(kPrediction).name).rates);
    const ExpectedStep expected =
        read_expected_step(File(with("\"step_s\": 2.0",
                                     R"("step_s": 2.0, "host_rates": {"adam_gparams_per_s": 5.5,
                     "host_to_device_gb_per_s": 55, "device_to_host_gb_per_s": 54},
                     "step_at_other_rates": {"optimizer": [{"factor": 1.5, "step_s": 1.9},
                     {"factor": 0.5, "step_s": 3}], "link": []})"))
                               .name);
    REQUIRE(expected.rates);
    CHECK(expected.rates->profile.adam == Approx(5.5e9));
    CHECK(expected.rates->profile.device_to_host == Approx(54e9));
    CHECK(step_at(*expected.rates, {2.75e9, 55e9, 54e9}) == Approx(3));
    CHECK(step_at(*expected.rates, {5.5e9, 30e9, 54e9}) == Approx(2));
}

TEST_CASE("expected step: what is no prediction of a plan that fits is refused", "[train]") {
    for (const auto& [text, words] :
         {std::pair{with("\"measured\": false", "\"measured\": true"), "is no prediction"},
          {std::string("{}"), "is no prediction"},
          {with("\"fits\": true", "\"fits\": false"), "does not fit"},
          {with("\"batch\": 4", "\"batch\": 0"), "batch"},
          {with("2.0", "\"two\""), "step_s"},
          {with("2.0", "1e-300"), "step_s is 1e-300, expected a number from 1e-09"},
          {with("2.0", "0"), "step_s is 0"},
          {with("2.0", "2.0, \"step_if_nothing_is_clipped_s\": 0"),
           "step_if_nothing_is_clipped_s is 0, expected a number from 1e-09"},
          {with("\"seq\": 512, ", ""), "training.seq is missing"},
          {with("\"batch\": 4, ", ""), "training.batch is missing"},
          {with("\"seq\": 512", "\"seq\": 512, \"gpus\": 2"),
           "plan.json: training: --gpus is 2, which the schedule streamed does not have"}}) {
        INFO(words);
        CHECK_THROWS_WITH(read_expected_step(File(text).name), ContainsSubstring(words));
    }
}

TEST_CASE("expected step: the lane that differs most is named", "[train]") {
    const ExpectedStep expected = read_expected_step(File(kPrediction).name);
    const std::string table = to_text(expected_table(expected, measured()));
    for (const char* row : {"step", "+5.0%", "device memory", "-1.0%", "optimizer exposed", "+32"})
        CHECK_THAT(table, ContainsSubstring(row));
    CHECK(largest_difference(expected, measured()) ==
          "most of the difference: optimizer exposed time is 80.0 ms longer than predicted, 4.0% "
          "of the step");
}

TEST_CASE("expected step: the share of the plan names the lane that accounts for the difference",
          "[train]") {
    const ExpectedStep expected = read_expected_step(File(kPrediction).name);
    TimedPlan now = measured();
    CHECK(against_plan(expected, now) == "95% of plan; optimizer 10% slower than planned");
    now.step.lanes[Work::optimizer].busy = 1.0;
    CHECK(against_plan(expected, now) ==
          "95% of plan; compute waits 80.0 ms longer for optimizer than planned");
    now.step.lanes[Work::compute].busy = 1.8;
    CHECK(against_plan(expected, now) == "95% of plan; compute 20% slower than planned");
    now.step.lanes[Work::compute].busy = 6;
    CHECK(against_plan(expected, now) == "95% of plan; compute takes 4.0 times as long as planned");
    now.step.seconds = 2.01;
    now.step.lanes[Work::compute].busy = 1.51;
    now.step.lanes[Work::optimizer].exposed = 0.25;
    CHECK(against_plan(expected, now) == "100% of plan");
}

TEST_CASE("expected step: a prediction may have more devices than the run", "[train]") {
    Prediction prediction;
    prediction.step.seconds = 2;
    prediction.step.lanes = LaneTimes(2);
    for (const int device : {0, 1}) {
        const Lane lane(Work::compute, device);
        prediction.plan.program.operations.emplace_back().lane = lane;
        prediction.step.lanes[lane] = {.busy = 1.5, .operations = 1};
    }
    const ExpectedStep expected = expected_of(prediction);
    REQUIRE(expected.lanes[Lane(Work::compute, 1)]);
    CHECK(expected.lanes[Lane(Work::compute, 1)]->busy == 1.5);
    CHECK_THAT(to_text(expected_table(expected, measured())), ContainsSubstring("-100.0%"));
    CHECK_THAT(largest_difference(expected, measured()),
               ContainsSubstring("time is 1.50 s shorter than predicted"));
}

TEST_CASE("expected rates: the step at today's rates", "[train]") {
    CHECK(step_at(two_seconds(), {5e9, 50e9, 40e9}) == Approx(2));
    CHECK(step_at(two_seconds(), {2.5e9, 50e9, 40e9}) == Approx(3));
    CHECK(step_at(two_seconds(), {7.5e9, 50e9, 40e9}) == Approx(1.9));
    // The slower direction counts.
    CHECK(step_at(two_seconds(), {5e9, 25e9, 40e9}) == Approx(2.25));
    CHECK(step_at(two_seconds(), {5e9, 50e9, 20e9}) == Approx(2.25));
    CHECK(step_at(two_seconds(), {2.5e9, 25e9, 40e9}) == Approx(3.25));
}

TEST_CASE("expected rates: both rates and both steps are said", "[train]") {
    const std::string text = rates_text(two_seconds(), {2.5e9, 49e9, 41e9});
    for (const char* words :
         {"AdamW: 5.00 Gparam/s in the profile, 2.50 today",
          "50.0 GB/s to the device and 40.0 to the host in the profile, 49.0 and 41.0 today",
          "expected: 2.00 s a step, 3.0"})
        CHECK_THAT(text, ContainsSubstring(words));
}
