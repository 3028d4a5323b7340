// Does a scenario of a project file give what its flags give?
#include <algorithm>

#include "tests/sim/base/program_run.h"
#include "tests/sim/specs/scenario/example_project.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::string printed(const std::string& arguments) {
    const Result result = run_sluice(arguments);
    CHECK(result.status == 0);
    return result.output;
}

}  // namespace

TEST_CASE("project file: a scenario in it gives what its flags give", "[cli]") {
    const TemporaryFolder folder;
    const std::string file = folder.write("a: b/p.json", project_json(example_project()));
    const std::string quoted = "'" + file + ":120 B on one H200'";
    CHECK(
        printed("predict --json --scenario " + quoted) ==
        printed("predict --json --plan given --model 120b --layers 40 --untied --machine "
                "h200-sxm-pcie5-1.5tb "
                "--host-memory 512GB --set link.host_to_device_gb_per_s=100 --batch 64 --schedule "
                "streamed --device-budget-bytes 80GB"));
    CHECK(printed("cost --json --batch 32 --years 3 --scenario " + quoted) ==
          printed("cost --json --plan given --model 120b --layers 40 --untied --machine "
                  "h200-sxm-pcie5-1.5tb "
                  "--host-memory 512GB --set link.host_to_device_gb_per_s=100 --batch 32 "
                  "--device-budget-bytes 80GB --years 3 --tokens 2e9 --offer Nebius"));
    const std::string same =
        "--model 120b --layers 6 --machine h200-sxm-pcie5-1.5tb --host-memory "
        "1TB --set link.host_to_device_gb_per_s=100 --seq 2048 ";
    const std::string other = "--layers 6 --host-memory 1TB --seq 2048 --scenario " + quoted;
    const std::string budget = "--device-budget-bytes 80GB ";
    const auto rows = [](const std::string& flags) {
        return shell(kSluice + "sweep --recompute full,none --json " + flags + " 2>/dev/null")
            .output;
    };
    const std::string swept = rows(other);
    CHECK(std::count(swept.begin(), swept.end(), '\n') == 2);
    CHECK(swept == rows("--batch 64 --untied " + same + budget));
    CHECK(printed("advise --json --batch 64 --untied " + same + budget) ==
          printed("advise --json " + other));
    check_sluice_mistake("sweep --sweep s.json --scenario " + quoted, {"give one"});
    check_sluice_mistake("advise --model 120b", {"--machine is required"});

    check_sluice_mistake("predict --scenario '" + file + "'", {"no-such-model"});
    check_sluice_mistake("predict --model 120b", {"--machine is required"});
    check_sluice_mistake("predict --scenario no-such-file.json", {"no-such-file.json"});
}

TEST_CASE("project file: advice chooses what changes only speed, and the batch if a most is stated",
          "[cli]") {
    const TemporaryFolder folder;
    Project project = example_project();
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
          printed("report --plan given --batch 8 --buffer-depth 1 --tokens 2e9 --usd-per-hour 3 " +
                  same + out));
    const std::string two = "--machine gh200-480gb --machine h200-sxm-pcie5 ";
    check_sluice_mistake("report " + scenario + two + out, {"2 machines"});
    check_sluice_mistake("report" + out, {"--model is required"});
}
