#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/report/step_report.h"
#include "tests/catch.h"

using namespace sluice;
using Json = nlohmann::json;

namespace {

Operation operation(OperationKind kind, Lane lane, std::vector<Dependency> waits, double link_bytes) {
    Operation made;
    made.kind = kind;
    made.lane = lane;
    made.waits_for = std::move(waits);
    made.link_bytes = link_bytes;
    return made;
}

/// A step of 1 s over one layer; H2D starts 0.2 s ahead:
///   H2D       weights in -0.2 ... 0, 10 GB
///   compute   forward 0 ... 0.4, backward 0.4 ... 0.75
///   optimizer update 0.75 ... 1.2 after backward
StepReport one_layer() {
    StepReport report;
    report.model_name = "tiny \"model\"";
    report.machine_name = "box";
    report.layers = 1;
    report.step = 1;
    report.program.operations = {
        operation(OperationKind::copy_weights_in, Lane::host_to_device, {{3, true}}, 10e9),
        operation(OperationKind::forward, Lane::compute, {{0, false}}, 0),
        operation(OperationKind::backward, Lane::compute, {}, 0),
        operation(OperationKind::update, Lane::optimizer, {{2, false}}, 0)};
    report.operations = {{-0.2, 0}, {0, 0.4}, {0.4, 0.75}, {0.75, 1.2}};
    return report;
}

Json events_of(const StepReport& report) {
    return Json::parse(report_chrome_trace(report)).at("traceEvents");
}

std::vector<Json> complete_events(const Json& events, const std::string& name) {
    std::vector<Json> found;
    for (const Json& event : events) {
        if (event["ph"] == "X" && (name.empty() || event["name"] == name)) found.push_back(event);
    }
    return found;
}

/// Pairs of complete events of one thread that overlap; they come in order of time.
int overlaps(const Json& events) {
    std::map<int, double> thread_end;
    int count = 0;
    for (const Json& event : complete_events(events, "")) {
        double& end = thread_end[event["tid"].get<int>()];
        if (event["ts"].get<double>() < end) ++count;
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    return count;
}

}  // namespace

TEST_CASE("chrome trace: the first event starts at 0 and times are microseconds of two steps",
          "[report]") {
    const Json events = events_of(one_layer());
    REQUIRE(complete_events(events, "").size() == 8);

    const std::vector<Json> weights = complete_events(events, "weights in 0");
    REQUIRE(weights.size() == 2);
    CHECK(weights[0]["ts"] == 0.0);          // -0.2 s shifted by 0.2 s
    CHECK(weights[0]["dur"] == 200'000.0);   // 0.2 s
    CHECK(weights[1]["ts"] == 1'000'000.0);  // a step later

    const std::vector<Json> update = complete_events(events, "update 0");
    REQUIRE(update.size() == 2);
    CHECK(update[0]["ts"] == 950'000.0);   // 0.75 s + 0.2 s
    CHECK(update[0]["dur"] == 450'000.0);  // 1.2 s - 0.75 s
    CHECK(update[1]["ts"] == 1'950'000.0);
}

TEST_CASE("chrome trace: an event carries layer, bytes, rate and what it waited for", "[report]") {
    const Json events = events_of(one_layer());
    const Json weights = complete_events(events, "weights in 0").at(0);
    CHECK(weights["cat"] == "weights in");
    CHECK(weights["args"]["layer"] == 0);
    CHECK(weights["args"]["micro_batch"] == 0);
    CHECK(weights["args"]["link_bytes"] == 10'000'000'000);
    CHECK(weights["args"]["rate_gb_per_s"] == 50.0);  // 10 GB in 0.2 s
    CHECK(weights["args"]["waits_for"] == Json({"update 0 (previous step)"}));

    const Json forward = complete_events(events, "forward 0").at(0);
    CHECK_FALSE(forward["args"].contains("rate_gb_per_s"));
    CHECK(forward["args"]["waits_for"] == Json({"weights in 0"}));
}

TEST_CASE("chrome trace: process and threads have names, threads in the order of lanes", "[report]") {
    std::vector<std::string> threads;
    std::string process;
    int previous = -1;
    for (const Json& event : events_of(one_layer())) {
        if (event["name"] == "process_name") process = event["args"]["name"];
        if (event["name"] == "thread_name") threads.push_back(event["args"]["name"]);
        if (event["name"] != "thread_sort_index") continue;
        CHECK(event["args"]["sort_index"] > previous);
        previous = event["args"]["sort_index"];
    }
    CHECK(process == "sluice tiny \"model\" on box (predicted)");
    CHECK(threads == std::vector<std::string>{lane_label(Lane::host_to_device),
                                              lane_label(Lane::compute),
                                              lane_label(Lane::optimizer)});
}

TEST_CASE("chrome trace: events of a lane do not overlap, whatever the rounding", "[report]") {
    StepReport report = one_layer();
    CHECK(overlaps(events_of(report)) == 0);

    // Thirds of a microsecond, end on start; and a step that is no whole number of anything.
    report.step = 1e-6 / 3 * 4;
    report.operations = {{-1e-6 / 3, 0}, {0, 1e-6 / 3}, {1e-6 / 3, report.step}, {0, report.step}};
    CHECK(overlaps(events_of(report)) == 0);

    // An end that is later than the next start by no more than what doubles cannot hold.
    report.step = 1;
    report.operations = {{0, 0.1}, {0.1, 0.3000000625000001}, {0.3000000624999999, 0.9}, {0.9, 1}};
    CHECK(overlaps(events_of(report)) == 0);
}

TEST_CASE("chrome trace: an arrow leads from the event that held another up", "[report]") {
    std::vector<Json> starts, ends;
    for (const Json& event : events_of(one_layer())) {
        if (event["ph"] == "s") starts.push_back(event);
        if (event["ph"] == "f") ends.push_back(event);
    }
    // Each step: weights in -> forward, backward -> update. The second step's weights arrive at 1.0 s although the
    // first step's update ends at 1.2 s (both less the shift), which held nothing up by its own lane: an arrow too.
    REQUIRE(starts.size() == 5);
    REQUIRE(ends.size() == 5);
    CHECK(starts[0]["tid"] == 1);
    CHECK(starts[0]["ts"] == 199'999.875);  // within the copy, which ends at 200 ms
    CHECK(ends[0]["tid"] == 2);
    CHECK(ends[0]["ts"] == 200'000.0);
    CHECK(ends[0]["bp"] == "e");
    CHECK(starts[0]["id"] == ends[0]["id"]);
}
