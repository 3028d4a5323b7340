// Errors of many runs, by group and overall; how they are written.
#include "sim/answers/validate/validation.h"

#include <nlohmann/json.hpp>

#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;
using nlohmann::json;

namespace {

/// Errors of throughput +25%, -20% in one group and 0 in the other.
Validation three_runs() {
    Validation v;
    v.machine_id = "box";
    v.runs = {made_run("a", "look", 1, 0.8), made_run("b", "look", 1, 1.25),
              made_run("c <&>", "held-out", 2, 2)};
    v.runs[0].run.host = 100;
    v.runs[0].predicted_host = 99;
    v.runs[0].predicted.band = {0.7, 0.9};
    v.runs[2].predicted.band = {1.9, 2.1};
    v.runs[0].run.steps = 12;
    v.runs[1].run.activations = Precision::fp32;
    v.summaries = summarize(v.runs);
    v.other_machines = {"a.json: measured elsewhere"};
    v.left_out = {"peers.json: X: no schedule yet: left out"};
    return v;
}

int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("validation: errors by group, then of all", "[validate]") {
    const std::vector<GroupSummary> summaries = three_runs().summaries;
    REQUIRE(summaries.size() == 3);
    const GroupSummary &look = summaries[0], &held_out = summaries[1], &all = summaries[2];
    CHECK(look.group == "look");
    CHECK(look.runs == 2);
    CHECK(look.throughput.mean_absolute == Approx(0.225));
    CHECK(look.throughput.worst == Approx(0.25));
    CHECK(look.throughput.worst_name == "a");
    CHECK(look.host.count == 1);
    CHECK(look.host.mean_absolute == Approx(0.01));
    CHECK(look.host.worst == Approx(-0.01));
    CHECK(look.device.count == 0);
    CHECK(held_out.throughput.mean_absolute == 0);
    CHECK(held_out.throughput.worst_name == "c <&>");
    CHECK(all.group.empty());
    CHECK(all.runs == 3);
    CHECK(all.throughput.mean_absolute == Approx(0.15));
    CHECK(all.with_band == 2);
    CHECK(all.in_band == 1);
}

TEST_CASE("validation: errors by what is predicted to limit a run", "[validate]") {
    Validation v = three_runs();
    const auto bound_by = [&](std::size_t run, Lane lane) {
        v.runs[run].predicted.step.critical_shares[lane] = 1;
    };
    bound_by(0, Work::compute);
    bound_by(1, Work::optimizer);
    bound_by(2, Work::compute);
    v.summaries = summarize(v.runs);
    const std::vector<BoundSummary>& bounds = v.summaries.back().bounds;
    REQUIRE(bounds.size() == 2);
    CHECK(bounds[0].bound == "gpu_compute");
    CHECK(bounds[0].throughput.count == 2);
    CHECK(bounds[0].throughput.mean_absolute == Approx(0.125));
    CHECK(bounds[1].throughput.worst == Approx(-0.2));
    CHECK_THAT(validation_text(v),
               ContainsSubstring("    bound by optimizer") && ContainsSubstring("20.0%  -20.0%"));
    CHECK_THAT(validation_text(three_runs()), !ContainsSubstring("bound by"));
    const json summary = json::parse(validation_json(v, nullptr))["summaries"].back();
    CHECK(summary["throughput_by_predicted_bottleneck"]["gpu_compute"]["runs"] == 2);
}

TEST_CASE("validation: one group is not summed up twice", "[validate]") {
    const auto summaries = summarize({made_run("a", "look", 1, 1), made_run("b", "look", 1, 2)});
    REQUIRE(summaries.size() == 1);
    CHECK(summaries[0].group.empty());
    CHECK(summaries[0].tau_b == std::nullopt);  // measured alike
}

TEST_CASE("validation: the text has a row a run and says what is left out", "[validate]") {
    const std::string text = validation_text(three_runs());
    for (const char* part : {"-20.0%", "+25.0%", "outside", "look: 2 runs", "all: 3 runs",
                             "1 of 2 steps (50%)", "no schedule yet", "measured elsewhere"})
        CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("validation: runs that clipped nothing are named", "[validate]") {
    Validation v = three_runs();
    CHECK_THAT(validation_text(v), !ContainsSubstring("clipped nothing"));
    v.runs[1].run.updates_ahead = true;
    CHECK_THAT(validation_text(v), ContainsSubstring("\n" + v.runs[1].run.name +
                                                     ": clipped nothing, so that updates began"));
    const json parsed = json::parse(validation_json(v));
    CHECK(parsed["runs"][0]["measured"]["updates_ahead"] == false);
    CHECK(parsed["runs"][1]["measured"]["updates_ahead"] == true);
}

TEST_CASE("validation: JSON has every run, what is not known is null", "[validate]") {
    const json parsed = json::parse(validation_json(three_runs()));
    REQUIRE(parsed["runs"].size() == 3);
    CHECK(parsed["runs"][0]["throughput_error"].get<double>() == Approx(0.25));
    CHECK(parsed["runs"][0]["device_error"].is_null());
    CHECK(parsed["runs"][0]["in_band"] == false);
    CHECK(parsed["runs"][1]["in_band"].is_null());
    CHECK(parsed["runs"][0]["measured"]["steps_measured"] == 12);
    CHECK(parsed["runs"][1]["measured"]["steps_measured"].is_null());
    CHECK(parsed["runs"][1]["measured"]["precision"] == "fp32");
    CHECK(parsed["other_machines"][0] == "a.json: measured elsewhere");
    CHECK(parsed["summaries"][2]["group"].is_null());
    CHECK(parsed["summaries"][2]["throughput"]["mean_absolute_error"].get<double>() ==
          Approx(0.15));
    CHECK(parsed["left_out"].size() == 1);
    CHECK_FALSE(parsed.contains("operations"));
    CHECK(parsed["process_spread"].is_null());
    CHECK(parsed["runs"][0]["measured"]["processes"].size() == 1);
}

TEST_CASE("validation: CSV quotes what has commas", "[validate]") {
    Validation v = three_runs();
    v.runs[0].run.name = "a, \"b\"";
    const std::string csv = validation_csv(v);
    CHECK(count(csv, "\n") == 4);
    CHECK_THAT(csv, ContainsSubstring("look,\"a, \"\"b\"\"\","));
    const std::string head = csv.substr(0, csv.find('\n'));
    const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
    CHECK(count(head, ",") == count(last, ","));
    CHECK(head.ends_with(
        "predicted_step_5_percent_s,predicted_step_95_percent_s,in_band,steps_measured,precision,"
        "measured_updates_ahead,processes,process_spread,processes_in_band"));
    CHECK_THAT(csv, ContainsSubstring(",0.7,0.9,false,12,bf16,false,1,,0\n"));
    CHECK_THAT(csv, ContainsSubstring(",,,,,fp32,false,1,,\n"));  // no band, steps not known
    CHECK_THAT(csv, ContainsSubstring(",1.9,2.1,true,,bf16,false,1,,1\n"));
}

TEST_CASE("validation: most steps of other systems lie in their bands", "[validate]") {
    const std::string folder = SLUICE_SOURCE_DIR "/validation/";
    std::size_t with_band = 0, in_band = 0;
    const auto add = [&](const char* machine, const std::vector<std::string>& files) {
        const Validation v =
            validate(read_measured_runs(files, {}), resolve_machine(read_machine_profile(machine)));
        with_band += v.summaries.back().with_band;
        in_band += v.summaries.back().in_band;
    };
    add("h200-pcie5-16vcpu-128gib",
        {folder + "peers-h200.json", folder + "peers-h200-other-settings.json"});
    add("h200-pcie5-16vcpu-128gib-3", {folder + "peers-h200-3.json"});
    REQUIRE(with_band >= 30);
    CHECK(static_cast<double>(in_band) >= 0.8 * static_cast<double>(with_band));
}

TEST_CASE("validation: pictures have a mark a run, and names are escaped", "[validate]") {
    const Validation v = three_runs();
    const std::string scatter = to_svg(scatter_picture(v)),
                      bars = to_svg(bars_picture(error_bars(v))), page = validation_html(v);
    CHECK(count(scatter, "<title>") == 3);
    for (const std::string* picture : {&scatter, &bars, &page}) {
        CHECK_THAT(*picture, ContainsSubstring("c &lt;&amp;&gt;"));
        CHECK(picture->find("c <&>") == std::string::npos);
    }
    CHECK_THAT(bars, ContainsSubstring("+25.0%"));
    CHECK(count(page, "<svg ") == 2);
    CHECK(count(page, "</svg>") == 2);
    CHECK_THAT(page, ContainsSubstring("<p>a.json: measured elsewhere</p>"));
    CHECK(page.find("://") == page.find("://www.w3.org/2000/svg"));  // no other file
}

TEST_CASE("validation: a picture of one run has axes", "[validate]") {
    Validation v;
    v.runs = {made_run("only", "look", 1, 1)};
    v.summaries = summarize(v.runs);
    const std::string scatter = to_svg(scatter_picture(v));
    CHECK(scatter.find("nan") == std::string::npos);
    CHECK(scatter.find("inf") == std::string::npos);
    CHECK_THAT(scatter, ContainsSubstring("only"));
}
