// Does the trace say when each operation ran, so that a viewer shows all of them?
#include <map>
#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/sim/report/one_layer_report.h"

namespace sluice {
namespace {

using nlohmann::json;

json events_of(const Prediction& report) {
    return json::parse(report_chrome_trace(report)).at("traceEvents");
}

std::vector<json> with_phase(const json& events, const char* phase) {
    std::vector<json> found;
    for (const json& event : events) {
        if (event["ph"] == phase) found.push_back(event);
    }
    return found;
}

std::vector<json> operations_named(const json& events, const std::string& name) {
    std::vector<json> found = with_phase(events, "X");
    std::erase_if(found, [&](const json& event) { return event["name"] != name; });
    return found;
}

/// Operations that start before the one before them in their thread has ended.
int overlaps(const json& events) {
    std::map<int, double> thread_end;
    int count = 0;
    for (const json& event : with_phase(events, "X")) {
        double& end = thread_end[event["tid"].get<int>()];
        if (event["ts"].get<double>() < end) ++count;
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    return count;
}

}  // namespace

TEST_CASE("chrome trace: two steps in microseconds from the first event", "[report]") {
    const json events = events_of(one_layer_report());
    CHECK(with_phase(events, "X").size() == 2 * 4);

    const std::vector<json> weights = operations_named(events, "weights in 0");
    REQUIRE(weights.size() == 2);
    CHECK(weights[0]["ts"] == 0.0);  // -0.2 s shifted by 0.2 s
    CHECK(weights[0]["dur"] == 200'000.0);
    CHECK(weights[1]["ts"] == 1'000'000.0);  // a step later

    const std::vector<json> update = operations_named(events, "update 0");
    REQUIRE(update.size() == 2);
    CHECK(update[0]["ts"] == 1'000'000.0);  // 0.8 s + 0.2 s
    CHECK(update[0]["dur"] == 500'000.0);   // 1.3 s - 0.8 s
    CHECK(update[1]["ts"] == 2'000'000.0);
}

TEST_CASE("chrome trace: an event carries layer, bytes, rate and what it waited for", "[report]") {
    const json events = events_of(one_layer_report());
    const json weights = operations_named(events, "weights in 0").at(0);
    CHECK(weights["cat"] == "weights in");
    CHECK(weights["args"] == json({{"layer", 0},
                                   {"micro_batch", 0},
                                   {"link_bytes", 10'000'000'000},
                                   {"rate_gb_per_s", 50.0},  // 10 GB in 0.2 s
                                   {"waits_for", {"backward 0 (previous step)"}}}));
    const json forward = operations_named(events, "forward 0").at(0);
    CHECK(forward["args"] ==
          json({{"layer", 0}, {"micro_batch", 0}, {"waits_for", {"weights in 0"}}}));
}

TEST_CASE("chrome trace: process and threads are named, threads in the order of lanes",
          "[report]") {
    Prediction report = one_layer_report();
    report.asked.model_name = "a \"quoted\" \xff";  // \xff: not UTF-8
    report.step.measured.emplace();
    std::string process;
    std::vector<std::string> threads;
    std::vector<int> order;
    for (const json& event : with_phase(events_of(report), "M")) {
        if (event["name"] == "process_name") process = event["args"]["name"];
        if (event["name"] == "thread_name") threads.push_back(event["args"]["name"]);
        if (event["name"] == "thread_sort_index") order.push_back(event["args"]["sort_index"]);
    }
    CHECK(process == "sluice a \"quoted\" \xef\xbf\xbd on box (measured)");
    CHECK(threads == std::vector<std::string>{"to GPU", "compute", "optimizer"});
    CHECK(order == std::vector<int>{0, 1, 3});
}

TEST_CASE("chrome trace: events of a lane do not overlap, whatever is rounded", "[report]") {
    Prediction report = one_layer_report();
    CHECK(overlaps(events_of(report)) == 0);

    // Thirds of a microsecond, each start on the end before, also across steps.
    const Seconds third = 1e-6 / 3;
    report.step.seconds = 4 * third;
    report.step.intervals = {{-third, 3 * third}, {0, third}, {third, 4 * third}, {0, 4 * third}};
    CHECK(overlaps(events_of(report)) == 0);

    // The end rounds up and the next start rounds down, from the two sides of 300'000.0625 us.
    report.step.seconds = 1;
    report.step.intervals = {{0, 0.1}, {0.1, 0.3000000625001}, {0.3000000624999, 0.9}, {0.9, 1}};
    CHECK(overlaps(events_of(report)) == 0);
}

TEST_CASE("chrome trace: an arrow leads from what held an operation up", "[report]") {
    const json events = events_of(one_layer_report());
    const std::vector<json> starts = with_phase(events, "s");
    const std::vector<json> ends = with_phase(events, "f");
    // Two in the first step, whose step before is not shown (forward, update); in the second all
    // four.
    REQUIRE(starts.size() == 6);
    REQUIRE(ends.size() == 6);
    CHECK(starts[0]["id"] == ends[0]["id"]);
    CHECK(starts[0]["id"] != starts[1]["id"]);
    CHECK(starts[0]["tid"] == 1);
    CHECK(starts[0]["ts"] == 199'999.875);  // within the copy, which ends at 200 ms
    CHECK(ends[0]["tid"] == 2);
    CHECK(ends[0]["ts"] == 200'000.0);
}

TEST_CASE("chrome trace: two reports of one plan, lane by lane from one zero", "[report]") {
    const Prediction predicted = one_layer_report();
    Prediction measured = one_layer_report();
    measured.step.measured.emplace();
    measured.step.seconds = 2;
    measured.step.intervals = {{-0.3, 0}, {0, 0.5}, {0.6, 1.6}, {1.6, 2.6}};
    const json events = json::parse(overlay_chrome_trace(predicted, measured)).at("traceEvents");
    CHECK(with_phase(events, "X").size() == 2 * 2 * 4);
    CHECK(overlaps(events) == 0);
    std::map<int, std::string> threads;
    std::string process;
    for (const json& event : with_phase(events, "M")) {
        if (event["name"] == "thread_name") threads[event["tid"]] = event["args"]["name"];
        if (event["name"] == "process_name") process = event["args"]["name"];
    }
    CHECK(process == "sluice tiny on box (predicted and measured)");
    std::vector<std::string> names;
    for (const auto& [tid, name] : threads) names.push_back(name);
    CHECK(names == std::vector<std::string>{"to GPU predicted", "to GPU measured",
                                            "compute predicted", "compute measured",
                                            "optimizer predicted", "optimizer measured"});
    // Both forwards start at the same time, 0.3 s after the measured copy, which starts first.
    const std::vector<json> forward = operations_named(events, "forward 0");
    REQUIRE(forward.size() == 4);
    CHECK(forward[0]["ts"] == 300'000.0);
    CHECK(forward[1]["ts"] == 1'300'000.0);  // predicted, a step later
    CHECK(forward[2]["ts"] == 300'000.0);
    CHECK(forward[3]["ts"] == 2'300'000.0);
    CHECK(threads[forward[2]["tid"]] == "compute measured");
    std::map<int, int> arrow_ends;
    for (const char* phase : {"s", "f"})
        for (const json& event : with_phase(events, phase)) ++arrow_ends[event["id"]];
    for (const auto& [id, ends] : arrow_ends) CHECK(ends == 2);
}

}  // namespace sluice
