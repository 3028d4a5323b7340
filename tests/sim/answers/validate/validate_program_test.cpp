// sluice validate as people run it: exit status, files, output.
#include "sim/base/json_object.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;
using namespace sluice::test;
using nlohmann::json;

namespace {

Result run(const std::string& arguments) { return run_sluice("validate " + arguments); }

/// A folder with an exact run and one that took twice as long, and their machine.
struct TwoRuns {
    test::TemporaryFolder folder;
    std::string exact, slow, arguments;
    TwoRuns() {
        const std::string machine = folder.write("machine.json", small_profile().dump());
        json report = exact_report();
        exact = folder.write("runs/exact.json", report.dump());
        report["step_s"] = report["step_s"].get<double>() * 2;
        slow = folder.write("runs/slow.json", report.dump());
        arguments = " --machine " + machine;
    }
    std::string runs() const { return (folder.path / "runs").string() + arguments; }
    std::string file(const char* name) const { return (folder.path / name).string(); }
};

}  // namespace

TEST_CASE("validate: a table, JSON, CSV; status 1 beyond the limit", "[validate]") {
    const TwoRuns two;
    const Result text = run(two.runs());
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("all: 2 runs"));
    const Result parsed = run(two.runs() + " --operations --json");
    REQUIRE(parsed.status == 0);
    const json out = json::parse(parsed.output);
    CHECK(out["runs"].size() == 2);
    CHECK(out["operations"]["runs"] == 2);
    CHECK(out["operations"]["worst"].size() == 12);
    CHECK(out["runs"][1]["operations"]["runs"] == 1);
    CHECK(run(two.runs() + " --csv").output.starts_with("group,name,"));

    CHECK(run(two.exact + two.arguments + " --limit 5%").status == 0);
    const Result beyond = run(two.runs() + " --limit 5%");
    CHECK(beyond.status == 1);
    CHECK_THAT(beyond.output, ContainsSubstring("off by more than 5%: slow (+100.0%)"));
    CHECK(run(two.runs() + " --limit 101%").status == 0);
    const Result mean = run(two.runs() + " --limit-mean 40%");
    CHECK(mean.status == 1);
    CHECK_THAT(mean.output,
               ContainsSubstring("the mean error of tokens/s is more than 40%: 50.0%"));
    CHECK(run(two.runs() + " --limit-mean 51% --limit-memory 1%").status == 0);
}

TEST_CASE("validate: a configuration that several processes ran is a row", "[validate]") {
    const TwoRuns two;
    json report = exact_report();
    const double exact = report["step_s"];
    const std::string first = two.folder.write("a/held-out/run.json", report.dump());
    report["step_s"] = 1.5 * exact;
    const std::string second = two.folder.write("b/held-out/run.json", report.dump());
    const std::string folders = std::filesystem::path(first).parent_path().string() + " " +
                                std::filesystem::path(second).parent_path().string() +
                                two.arguments;
    const Result parsed = run(folders + " --json");
    REQUIRE(parsed.status == 0);
    const json out = json::parse(parsed.output);
    REQUIRE(out["runs"].size() == 1);
    const json& row = out["runs"][0];
    CHECK(row["group"] == "held-out");
    CHECK(row["measured"]["step_s"].get<double>() == Approx(1.25 * exact));
    CHECK(row["measured"]["process_spread"].get<double>() == Approx(0.2));
    REQUIRE(row["measured"]["processes"].size() == 2);
    CHECK(row["measured"]["processes"][1]["file"] == second);
    CHECK(row["measured"]["processes"][1]["step_s"].get<double>() == Approx(1.5 * exact));
    CHECK(out["summaries"][0]["runs"] == 1);
    CHECK(out["summaries"][0]["processes"] == 2);
    CHECK(out["process_spread"]["mean_distance"].get<double>() == Approx(0.2));
    const Result text = run(folders + " --html " + two.file("v.html"));
    for (const char* part : {"processes  spread", "        2   20.0%", "all: 1 run, 2 processes",
                             "processes of one configuration (2 in 1) differ from the mean of "
                             "their steps by 20.0% on average, worst 20.0% (run)"})
        CHECK_THAT(text.output, ContainsSubstring(part));
    CHECK_THAT(read_text_file(two.file("v.html")), ContainsSubstring(">20.0%</data>"));
    CHECK(run(two.runs()).output.find("process") == std::string::npos);
}

TEST_CASE("validate: with CSV, what was left out is said too", "[validate]") {
    const TwoRuns two;
    const Result csv = run(two.exact + " " + two.exact + two.arguments + " --csv");
    CHECK(csv.status == 0);
    CHECK(std::count(csv.output.begin(), csv.output.end(), '\n') == 3);
    CHECK_THAT(csv.output,
               ContainsSubstring("sluice: " + two.exact + ": given twice: counted once\n"));
}

TEST_CASE("validate: pictures and traces are written", "[validate]") {
    const TwoRuns two;
    const Result result = run(two.exact + two.arguments + " --html " + two.file("v.html") +
                              " --svg " + two.file("v.svg") + " --overlay " + two.file("v.json"));
    CHECK(result.status == 0);
    CHECK(read_text_file(two.file("v.html")).starts_with("<!DOCTYPE html>"));
    CHECK(read_text_file(two.file("v.svg")).starts_with("<svg "));
    CHECK(json::parse(read_text_file(two.file("v.json"))).contains("traceEvents"));
}

TEST_CASE("validate: mistakes are one sentence and exit 2", "[validate]") {
    const TwoRuns two;
    const auto check_mistake = [](const std::string& arguments, const std::string& part) {
        const Result result = run(arguments);
        INFO(arguments << "\n" << result.output);
        CHECK(result.status == 2);
        CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
        CHECK_THAT(result.output, ContainsSubstring(part));
    };
    check_mistake(two.exact, "--machine");
    check_mistake("nowhere.json" + two.arguments, "nowhere.json: no such file");
    check_mistake(two.runs() + " --limit 5", "--limit is \"5\", expected a percentage");
    check_mistake(two.runs() + " --limit -5%", "--limit is \"-5%\"");
    check_mistake(two.runs() + " --limit-mean 5", "--limit-mean is \"5\"");
    check_mistake(two.runs() + " --limit-memory x%", "--limit-memory is \"x%\"");
    check_mistake(two.runs() + " --limit nan%", "--limit is \"nan%\"");
    check_mistake(two.runs() + " --json --csv", "give one");
    check_mistake(two.runs() + " --operations --csv", "--csv has one line per run");
    const std::string page = two.file("never.html");
    check_mistake(two.runs() + " --overlay x.json --html " + page,
                  "--overlay shows one run, but 2 are given");
    CHECK_FALSE(std::filesystem::exists(page));
    check_mistake(two.runs() + " --html x --svg x", "--html and --svg are both x");
    check_mistake(two.runs() + " --html ''", "not an empty one");
    json older = exact_report();
    older.erase("operations");
    check_mistake(two.folder.write("older.json", older.dump()) + two.arguments + " --overlay x",
                  "operations is missing");
}
