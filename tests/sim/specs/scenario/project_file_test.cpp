#include "sim/specs/scenario/project_file.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;

namespace {

Project example() {
    Project out;
    PlannedScenario a;
    a.name = "120 B on one H200";
    a.notes = "first line\nsecond \"line\"";
    a.model = {"120b", "40", true};
    a.machine = {"h200-sxm-pcie5-1.5tb", "512GB", {"link.host_to_device_gb_per_s=100"}};
    a.training = {{"batch", "64"}, {"schedule", "streamed"}, {"device_budget_bytes", "80GB"}};
    a.money = {{"tokens", "2e9"}, {"offer", "Nebius"}};
    PlannedScenario b;
    b.name = "mistakes are kept: ü";
    b.model.model = "no-such-model";
    b.machine.machine = "gh200-480gb";
    b.training = {{"batch", "many"}};
    out.scenarios = {a, b};
    out.current = 1;
    return out;
}

std::string printed(const std::string& arguments) {
    const test::Result result = test::run_sluice(arguments);
    CHECK(result.status == 0);
    return result.output;
}

std::string refused(const std::string& text) {
    try {
        parse_project(text, "p.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("project file: what is written is read back, mistakes too", "[scenario]") {
    CHECK(parse_project(project_json(example()), "p.json") == example());
}

TEST_CASE("project file: numbers stay numbers, with the digits that were typed", "[scenario]") {
    const std::string text = project_json(example());
    CHECK_THAT(text, ContainsSubstring("\"batch\": 64"));
    CHECK_THAT(text, ContainsSubstring("\"tokens\": \"2e9\""));
    CHECK(parse_project(
              R"({"format": "sluice project", "version": 1, "scenarios": [
                  {"name": "", "model": "120b", "machine": "x", "training": {"batch": 32}}]})",
              "p.json")
              .scenarios[0]
              .training.at("batch") == "32");
}

TEST_CASE("project file: what only looks like a number stays as it was typed", "[scenario]") {
    for (const char* typed :
         {"inf", "-inf", "nan", "1e400", "-0", "1e16", "1e+16", "12345678901234567890"}) {
        CAPTURE(typed);
        Project project = example();
        project.scenarios[0].training["batch"] = typed;
        project.scenarios[0].model.layers = typed;
        CHECK(parse_project(project_json(project), "p.json") == project);
    }
}

TEST_CASE("project file: each mistake is one sentence with file, field and value", "[scenario]") {
    CHECK_THAT(refused("{\"format\":"), ContainsSubstring("p.json"));
    CHECK_THAT(refused("[]"), ContainsSubstring("p.json"));
    CHECK_THAT(refused("{}"), ContainsSubstring("p.json: format is missing"));
    CHECK_THAT(refused(R"({"format": 3})"), ContainsSubstring("p.json: format"));
    CHECK_THAT(refused(R"({"format": "other"})"), ContainsSubstring("is \"other\", expected"));
    CHECK_THAT(refused(R"({"format": "sluice project", "version": 2, "news": 1})"),
               ContainsSubstring("p.json: version is 2, expected 1"));
    const std::string start = R"({"format": "sluice project", "version": 1, )";
    CHECK_THAT(refused(start + R"("scenarios": []})"), ContainsSubstring("scenarios is empty"));
    CHECK_THAT(refused(start + R"("scenarois": []})"),
               ContainsSubstring("did you mean \"scenarios\""));
    const std::string one = R"({"name": "a", "model": "120b", "machine": "gh200-480gb")";
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(, "training": {"bach": 3}}]})"),
               ContainsSubstring("did you mean \"batch\""));
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(, "layers": [3]}]})"),
               ContainsSubstring("scenarios[0].layers"));
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(}], "current": 1})"),
               ContainsSubstring("current is 1"));
}

TEST_CASE("project file: a full disk while it is saved loses nothing", "[scenario]") {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("p.json", project_json(example()));
    Project larger = example();
    larger.scenarios[0].notes = std::string(100'000, 'x');
    // No file may grow beyond 64 kB: writing fails as it does where no space is left.
    struct rlimit before {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit full = before;
    full.rlim_cur = 65'536;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
    std::string sentence;
    try {
        write_file(file, project_json(larger));
    } catch (const InputError& error) {
        sentence = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK_THAT(sentence, ContainsSubstring(file + ": cannot be written"));
    CHECK(parse_project(read_text_file(file), file) == example());
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("project file: a file and a scenario in it are named together", "[scenario]") {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("a: b/p.json", project_json(example()));
    CHECK(read_planned_scenario(file).name == "mistakes are kept: ü");
    CHECK(read_planned_scenario(file + ":120 B on one H200").model.model == "120b");
    CHECK_THROWS_WITH(read_planned_scenario(file + ":120 B on one H100"),
                      ContainsSubstring("did you mean \"120 B on one H200\""));
    // A name may hold a colon, and so may a file's.
    const std::string kept = "mistakes are kept: ü";
    CHECK(read_planned_scenario(file + ":" + kept).name == kept);
    Project twice = example();
    for (PlannedScenario& planned : twice.scenarios) planned.name = kept;
    const std::string other_file = folder.write("of 12:30.json", project_json(twice));
    CHECK(read_planned_scenario(other_file).name == kept);
    CHECK_THROWS_WITH(read_planned_scenario(other_file + ":" + kept),
                      ContainsSubstring("12:30.json has 2 scenarios of that name; rename"));
    CHECK_THROWS_WITH(read_planned_scenario("gone.json:a: b"),
                      ContainsSubstring("gone.json: no such file"));

    const std::string quoted = "'" + file + ":120 B on one H200'";
    CHECK(
        printed("predict --json --scenario " + quoted) ==
        printed("predict --json --model 120b --layers 40 --untied --machine h200-sxm-pcie5-1.5tb "
                "--host-memory 512GB --set link.host_to_device_gb_per_s=100 --batch 64 --schedule "
                "streamed --device-budget-bytes 80GB"));
    CHECK(printed("cost --json --batch 32 --years 3 --scenario " + quoted) ==
          printed("cost --json --model 120b --layers 40 --untied --machine h200-sxm-pcie5-1.5tb "
                  "--host-memory 512GB --set link.host_to_device_gb_per_s=100 --batch 32 "
                  "--device-budget-bytes 80GB --years 3 --tokens 2e9 --offer Nebius"));
    const std::string same =
        "--model 120b --layers 40 --machine h200-sxm-pcie5-1.5tb --host-memory "
        "1TB --set link.host_to_device_gb_per_s=100 --seq 2048 ";
    const std::string other = "--layers 40 --host-memory 1TB --seq 2048 --scenario " + quoted;
    const std::string budget = "--device-budget-bytes 80GB ";
    const auto rows = [](const std::string& flags) {
        return test::shell(test::kSluice + "sweep --recompute full,none --json " + flags +
                           " 2>/dev/null")
            .output;
    };
    const std::string swept = rows(other);
    CHECK(std::count(swept.begin(), swept.end(), '\n') == 2);
    CHECK(swept == rows("--batch 64 --untied " + same + budget));
    CHECK(printed("advise --json --batch 64 --untied " + same + budget) ==
          printed("advise --json " + other));
    test::check_sluice_mistake("sweep --sweep s.json --scenario " + quoted, {"give one"});
    test::check_sluice_mistake("advise --model 120b", {"--machine is required"});

    test::check_sluice_mistake("predict --scenario '" + file + "'", {"no-such-model"});
    test::check_sluice_mistake("predict --model 120b", {"--machine is required"});
    test::check_sluice_mistake("predict --scenario no-such-file.json", {"no-such-file.json"});
}

TEST_CASE("project file: advice chooses what changes only speed, and the batch if a most is said",
          "[scenario]") {
    const test::TemporaryFolder folder;
    Project project = example();
    project.scenarios[0].model = {"qwen2.5-7b", "4", false};
    project.scenarios[0].machine = {"gh200-480gb", std::nullopt, {}};
    project.scenarios[0].training = {{"batch", "8"}, {"buffer_depth", "1"}, {"seq", "2048"}};
    project.scenarios[0].money = {{"tokens", "2e9"}, {"usd_per_hour", "3"}};
    const std::string scenario =
        "--scenario '" + folder.write("p.json", project_json(project)) + ":120 B on one H200' ";
    const std::string same = "--model qwen2.5-7b --layers 4 --machine gh200-480gb --seq 2048 ";
    CHECK(printed("advise --json " + scenario) == printed("advise --json --batch 8 " + same));
    CHECK(printed("advise --json --most-batch 4 " + scenario) ==
          printed("advise --json --most-batch 4 " + same));

    const std::string out = " --date 2026-01-02 --out " + (folder.path / "r.html").string();
    CHECK(printed("report " + scenario + out) ==
          printed("report --batch 8 --buffer-depth 1 --tokens 2e9 --usd-per-hour 3 " + same + out));
    const std::string two = "--machine gh200-480gb --machine h200-sxm-pcie5 ";
    test::check_sluice_mistake("report " + scenario + two + out, {"2 machines"});
    test::check_sluice_mistake("report" + out, {"--model is required"});
}
