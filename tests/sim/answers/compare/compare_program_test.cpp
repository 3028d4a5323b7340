// sluice compare as people run it: exit status, one sentence for a mistake, files.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

namespace {

const std::string kCompare = "compare --model qwen2.5-7b --machine h200-sxm-pcie5-1.5tb ";

Result run(const std::string& arguments) { return run_sluice(kCompare + arguments); }
void check_mistake(const std::string& arguments, const std::vector<std::string>& parts) {
    check_sluice_mistake(kCompare + arguments, parts);
}

}  // namespace

TEST_CASE("compare: text and chart of all, JSON of some", "[compare]") {
    const TemporaryFolder folder;
    const std::string svg = (folder.path / "bars.svg").string();
    const Result text = run("--layers 2 --batch 4 --svg " + svg);
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("qwen2.5-7b") && ContainsSubstring("1.00x"));
    CHECK(std::filesystem::file_size(svg) > 0);
    const Result some = run("--layers 2 --batch 4 --schedules megatrain --json");
    REQUIRE(some.status == 0);
    const auto systems = nlohmann::json::parse(some.output)["comparisons"][0]["systems"];
    REQUIRE(systems.size() == 1);
    CHECK(systems[0]["system"] == "megatrain");
    CHECK(systems[0]["settings"]["batch"] == 4);
}

TEST_CASE("compare: several numbers of layers, what-if values", "[compare]") {
    const Result csv = run("--layers 1,2,3 --schedules streamed --csv");
    CHECK(csv.status == 0);
    CHECK(std::count(csv.output.begin(), csv.output.end(), '\n') == 4);
    const Result text = run("--layers 1,2 --schedules streamed --host-memory 900GB");
    CHECK_THAT(text.output, ContainsSubstring("what-if: --host-memory 900GB"));
}

TEST_CASE("compare: where SuperOffload keeps too much on the device, it is told to offload more",
          "[compare]") {
    const Result result =
        run("--plan given --batch 32 --offload-percent 0 --device-budget-bytes 100GB --schedules "
            "superoffload");
    CHECK(result.status == 0);
    CHECK_THAT(result.output, ContainsSubstring("superoffload does not fit\n  device needs") &&
                                  ContainsSubstring("fits with --offload-percent"));
}

TEST_CASE("compare: what does not fit at once is compared in micro-batches, and says so",
          "[compare]") {
    const Result text =
        run("--plan given --batch 256 --layers 4 --schedules streamed,zero3-offload");
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("\nzero3-offload: in micro-batches of ") &&
                                ContainsSubstring("with 256 at once the device is"));
    CHECK_THAT(text.output, !ContainsSubstring("streamed: in micro-batches"));
    const Result layers = run("--plan given --batch 256 --layers 2,4 --schedules zero3-offload");
    CHECK_THAT(layers.output, ContainsSubstring("\n4 layers, zero3-offload: in micro-batches of "));
    const Result json =
        run("--plan given --batch 256 --layers 4 --schedules streamed,zero3-offload --json");
    const auto systems = nlohmann::json::parse(json.output)["comparisons"][0]["systems"];
    CHECK(systems[0]["short_of_whole_batch_bytes"] == 0);
    CHECK(systems[1]["short_of_whole_batch_bytes"] > 0);
    CHECK(systems[1]["settings"]["micro_batch"] > 0);
    CHECK(systems[0]["whole_batch_note"].is_null());
    const auto note = systems[1]["whole_batch_note"].get<std::string>();
    CHECK_THAT(text.output, ContainsSubstring("\n" + note + "\n"));
    const Result csv =
        run("--plan given --batch 256 --layers 4 --schedules streamed,zero3-offload --csv");
    const auto bytes = systems[1]["short_of_whole_batch_bytes"].get<std::int64_t>();
    CHECK_THAT(csv.output, ContainsSubstring(",short_of_whole_batch_bytes,whole_batch_note,") &&
                               ContainsSubstring(fmt::format(",{},\"{}\",", bytes, note)));
}

TEST_CASE("compare: mistakes are one sentence and exit status 2", "[compare]") {
    check_mistake("--schedules megatrian", {"--schedules", "megatrian", "did you mean"});
    check_mistake("--schedules streamed,streamed", {"twice"});
    check_mistake("--schedule streamed", {"--schedule"});
    check_mistake("--layers 2,x", {"--layers is \"x\""});
    check_mistake("--layers 2,,4", {"--layers is \"\""});
    check_mistake("--layers 2,99", {"99"});
    check_mistake("--json --csv", {"--json and --csv"});
    check_mistake("--cluster h100:8", {"--cluster: unknown machine \"h100\""});
    check_mistake("--cluster h100-sxm-pcie5:8 --cluster h100-sxm-pcie5:8", {"--cluster", "twice"});
    check_mistake("--svg ''", {"--svg needs the name of a file"});
    check_mistake("--batch 8 --micro-batch 3", {"--batch is 8", "--micro-batch"});
    check_mistake("--schedules megatrain --buffer-depth 3",
                  {"--buffer-depth is 3", "none of the compared systems has"});
}

TEST_CASE("compare: a training file must not name a schedule of its own", "[compare]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "training.json").string();
    std::ofstream(file) << R"({"schedule": "megatrain", "batch": 4})";
    check_mistake("--training " + file, {file, "schedule is \"megatrain\"", "--schedules"});
}

TEST_CASE("compare: systems that train all weights are not ranked beside adapters", "[compare]") {
    const std::string asked = "--layers 2 --batch 4 --adapter-rank 16 ";
    const Result result = run(asked + "--cluster h200-sxm-pcie5:2 --json");
    REQUIRE(result.status == 0);
    const auto out = nlohmann::json::parse(result.output)["comparisons"][0];
    std::set<std::string> systems;
    for (const auto& one : out["systems"]) systems.insert(one["system"].get<std::string>());
    CHECK(systems == std::set<std::string>{"2 x h200-sxm-pcie5", "resident", "streamed"});
    CHECK_THAT(run(asked + "--cluster h200-sxm-pcie5:2").output,
               ContainsSubstring("not compared, since they train no adapters alone "
                                 "(--adapter-rank 16): megatrain, "));
    check_mistake(asked + "--schedules megatrain",
                  {"--adapter-rank is 16", "--schedules streamed"});
}
