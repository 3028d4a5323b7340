// One run against its prediction.
#include "tests/sim/answers/validate/made_runs.h"
#include "tests/sim/specs/model/input_error_of.h"

using namespace sluice;
using nlohmann::json;

namespace {

RunComparison compare(const json& report) { return compare_run(read_one(report), small_machine()); }

std::string comparison_error(const json::json_pointer& where, const json& value) {
    json report = exact_report();
    report[where] = value;
    return input_error_of([&] { compare(report); });
}

}  // namespace

TEST_CASE("compare run: a run that went exactly as predicted has no error", "[validate]") {
    const RunComparison c = compare(exact_report());
    CHECK(c.step_error() == Approx(0).margin(1e-12));
    CHECK(c.throughput_error() == Approx(0).margin(1e-12));
    CHECK(c.device_error().value() == Approx(0).margin(1e-12));
    CHECK(c.host_error().value() == Approx(0).margin(1e-12));
    CHECK(c.in_band() == true);
    REQUIRE(c.measured);
    CHECK(c.measured->step.lane(Work::compute).busy ==
          Approx(c.predicted.step.lane(Work::compute).busy).epsilon(1e-6));
    REQUIRE(c.phases.size() == 4);
    for (const PhaseComparison& phase : c.phases)
        CHECK(phase.measured == Approx(phase.predicted).epsilon(1e-6).margin(1e-9));
}

TEST_CASE("compare run: a step is compared with the prediction of its kind", "[validate]") {
    const TrainingSpec training = small_training();
    REQUIRE(training.clipping == Clipping::automatic);
    const RunComparison waits = compare(exact_report(training, ClippedStep::waits));
    const RunComparison ahead = compare(exact_report(training, ClippedStep::ahead));
    CHECK_FALSE(waits.run.updates_ahead);
    CHECK(ahead.run.updates_ahead);
    CHECK(ahead.predicted.step.seconds < 0.97 * waits.predicted.step.seconds);
    const auto updates_ahead = [](const TimedPlan& step) {
        return std::ranges::count(step.plan.program.operations, OperationKind::update_ahead,
                                  &Operation::kind);
    };
    for (const RunComparison& c : {waits, ahead}) {
        CHECK(c.step_error() == Approx(0).margin(1e-12));
        REQUIRE(c.measured);
        CHECK(updates_ahead(c.predicted) == (c.run.updates_ahead ? 3 + 1 : 0));  // layers and head
        const std::vector<OperationInterval>& measured = c.measured->step.intervals;
        REQUIRE(measured.size() == c.predicted.step.intervals.size());
        for (std::size_t i = 0; i < measured.size(); ++i) {
            CHECK(measured[i].start == Approx(c.predicted.step.intervals[i].start).margin(1e-8));
            CHECK(measured[i].end == Approx(c.predicted.step.intervals[i].end).margin(1e-8));
        }
        CHECK(c.measured->step.measured->ahead == c.run.updates_ahead);
    }
}

TEST_CASE("compare run: errors are predicted over measured, less 1", "[validate]") {
    json report = exact_report();
    report["step_s"] = report["step_s"].get<double>() * 2;
    report["measured_device_bytes"] = report["measured_device_bytes"].get<double>() * 0.8;
    report["measured_host_bytes"] = 0;  // not known
    const RunComparison c = compare(report);
    CHECK(c.step_error() == Approx(-0.5));
    CHECK(c.throughput_error() == Approx(1.0));
    CHECK(c.device_error().value() == Approx(0.25).epsilon(1e-4));
    CHECK_FALSE(c.host_error());
    CHECK(c.in_band() == false);  // no band is that wide
}

TEST_CASE("compare run: a report without operations is compared as a whole", "[validate]") {
    json report = exact_report();
    report.erase("operations");
    const RunComparison c = compare(report);
    CHECK_FALSE(c.measured);
    CHECK(c.phases.empty());
    CHECK(c.step_error() == Approx(0).margin(1e-12));
}

TEST_CASE("compare run: on the CPU in fp32 device buffers are doubled and lie in host memory",
          "[validate]") {
    json report = exact_report();
    const auto device = report["device_peak_bytes"].get<Bytes>();
    const auto steady = report["host_between_steps_bytes"].get<Bytes>();
    report["unified_memory"] = true;
    report["activations"] = "fp32";
    report["measured_device_bytes"] = 2 * device;
    report["measured_host_bytes"] = steady + 2 * device;
    RunComparison c = compare(report);
    CHECK(c.predicted_device == 2 * device);
    CHECK(c.predicted_host == steady + 2 * device);
    report["activations"] = "bf16";
    c = compare(report);
    CHECK(c.predicted_device == device);
    CHECK(c.predicted_host == steady + device);
}

TEST_CASE("compare run: MegaTrain's host memory is what is resident between steps", "[validate]") {
    MeasuredRun run;
    run.model = read_model("qwen2.5-7b");
    truncate_layers(run.model, 4);
    run.training.schedule = Schedule("megatrain");
    run.training.batch = 2;
    run.step = 1;
    run.host = 1'000'000'000;
    run.host_between_steps = true;
    run.phases = {{"adam", 0.5}};
    const RunComparison c = compare_run(run, small_machine());
    CHECK(c.predicted_host == c.predicted.plan.memory.host_between_steps);
    CHECK(c.predicted_host < c.predicted.plan.fit.host().peak.bytes);  // without gradients
    REQUIRE(c.phases.size() == 1);
    CHECK(c.phases[0].name == "adam");
    CHECK(c.phases[0].measured == 0.5);
    CHECK(c.phases[0].predicted > 0);
}

TEST_CASE("compare run: operations of another plan are refused", "[validate]") {
    const char* const kVersion = "another version of the planner";
    json report = exact_report();
    json& rows = report["operations"]["rows"];
    const std::size_t count = rows.size();
    rows.erase(count - 1);
    const std::string error = input_error_of([&] { compare(report); });
    CHECK_THAT(error, ContainsSubstring(std::to_string(count - 1) + " rows, expected the " +
                                        std::to_string(count)));
    CHECK_THAT(error, ContainsSubstring(kVersion));
    for (const auto& [where, value] : {std::pair{"/operations/rows/0/0", json("weights in 7")},
                                       std::pair{"/operations/rows/0/1", json("compute")},
                                       std::pair{"/operations/rows/0/2", json(1)}}) {
        const std::string message = comparison_error(json::json_pointer(where), value);
        CHECK_THAT(message, ContainsSubstring("run.json: operations.rows[0] is"));
        CHECK_THAT(message, ContainsSubstring("expected weights in 0 of micro-batch 0"));
        CHECK_THAT(message, ContainsSubstring(kVersion));
    }
}

TEST_CASE("compare run: settings that the machine cannot have name the file", "[validate]") {
    const std::string error = comparison_error("/training/optimizer_threads"_json_pointer, 64);
    CHECK_THAT(error, ContainsSubstring("run.json: training: --optimizer-threads is 64"));
}
