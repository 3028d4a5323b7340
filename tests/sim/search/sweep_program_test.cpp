// sluice sweep as people run it: rows to the bit, resumed, in any number of processes.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/program_run.h"

using namespace sluice::test;

namespace {

using nlohmann::json;

const std::string kSweep =
    "sweep --model qwen2.5-7b --layers 2,5 --machine h200-pcie5-16vcpu-128gib gh200-480gb "
    "--batch 4,8,9 --micro-batch 0,2 --buffer-depth 1,2 --recompute full,none ";

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<json> rows_of(const std::string& path) {
    std::ifstream in(path);
    std::vector<json> rows;
    for (std::string line; std::getline(in, line);) rows.push_back(json::parse(line));
    return rows;
}

}  // namespace

TEST_CASE("sweep: a simulated row equals sluice predict to the bit", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string();
    REQUIRE(run_sluice(kSweep + "--bands simulated --json-lines " + out).status == 0);
    int compared = 0;
    for (const json& row : rows_of(out)) {
        if (row["state"] != "simulated") continue;
        const Result one = shell(
            kSluice + "predict --json --model qwen2.5-7b --layers " + row["layers"].dump() +
            " --machine " + row["machine"].get<std::string>() + " --batch " + row["batch"].dump() +
            " --micro-batch " + row["micro_batch"].dump() + " --buffer-depth " +
            row["buffer_depth"].dump() + " --recompute " + row["recompute"].get<std::string>());
        REQUIRE(one.status == 0);
        const json report = json::parse(one.output);
        for (const char* key : {"step_s", "step_5_percent_s", "step_95_percent_s", "tokens_per_s",
                                "device_peak_bytes", "host_peak_bytes", "bottleneck"}) {
            INFO(row.dump() << " " << key);
            CHECK(row[key] == report[key]);
        }
        if (++compared == 6) break;
    }
    CHECK(compared == 6);
}

TEST_CASE("sweep: the same files whatever the workers, killed and resumed", "[search]") {
    const TemporaryFolder folder;
    const auto name = [&](const std::string& file) { return (folder.path / file).string(); };
    const auto files = [&](const std::string& stem) {
        return "--csv " + name(stem + ".csv") + " --json-lines " + name(stem + ".jsonl");
    };
    REQUIRE(run_sluice(kSweep + "--workers 1 " + files("one")).status == 0);
    REQUIRE(run_sluice(kSweep + "--workers 3 " + files("three")).status == 0);
    CHECK(text_of(name("one.csv")) == text_of(name("three.csv")));
    CHECK(text_of(name("one.jsonl")) == text_of(name("three.jsonl")));
    CHECK(!std::filesystem::exists(name("one.jsonl.part")));

    // What an interrupted sweep leaves: some of the simulated rows, the last cut off.
    std::string part, last;
    for (const json& row : rows_of(name("one.jsonl"))) {
        if (row["state"] != "simulated") continue;
        part += last;
        last = nlohmann::ordered_json::parse(row.dump()).dump() + "\n";
    }
    REQUIRE(!part.empty());
    std::ofstream(name("again.jsonl.part")) << part << last.substr(0, last.size() / 2);
    const Result again = run_sluice(kSweep + files("again"));
    CHECK(again.status == 0);
    CHECK_THAT(again.output, ContainsSubstring("goes on"));
    CHECK(text_of(name("again.jsonl")) == text_of(name("one.jsonl")));
    CHECK(text_of(name("again.csv")) == text_of(name("one.csv")));

    // Killed at some moment, what is there is valid, and goes on to the same.
    (void)shell("timeout -s KILL 0.05 " + kSluice + kSweep + files("killed") + " 2>/dev/null");
    CHECK(run_sluice(kSweep + files("killed")).status == 0);
    CHECK(text_of(name("killed.jsonl")) == text_of(name("one.jsonl")));
}

TEST_CASE("sweep: flags and a file say the same", "[search]") {
    const TemporaryFolder folder;
    const std::string file = folder.write("sweep.json", R"({
        "models": "qwen2.5-7b", "layers": [2, 5],
        "machines": ["h200-pcie5-16vcpu-128gib", "gh200-480gb"],
        "batch": [4, 8, 9], "micro_batch": [0, 2], "buffer_depth": [1, 2],
        "recompute": ["full", "none"]})");
    const Result by_flags = shell(kSluice + kSweep + " 2>/dev/null");
    const Result by_file = shell(kSluice + "sweep --sweep " + file + " 2>/dev/null");
    CHECK(by_flags.status == 0);
    CHECK(by_flags.output == by_file.output);
    CHECK(std::count(by_flags.output.begin(), by_flags.output.end(), '\n') == 1 + 96);
    CHECK_THAT(by_flags.output, ContainsSubstring("multiple of --micro-batch"));
}

TEST_CASE("sweep: mistakes are one sentence and exit status 2", "[search]") {
    const TemporaryFolder folder;
    const auto mistake = [](const std::string& arguments, const std::vector<std::string>& parts) {
        check_sluice_mistake("sweep " + arguments, parts);
    };
    const std::string one = "--model qwen2.5-0.5b --machine gh200-480gb ";
    mistake("--machine gh200-480gb", {"no model", "--model"});
    mistake("--model qwen2.5-7b", {"no machine", "--machine"});
    mistake(one + "--batch 8,x", {"--batch is x"});
    mistake(one + "--batch 8,8", {"--batch is 8,8", "twice"});
    mistake(one + "--batch 8,", {"--batch is \"8,\"", "empty value"});
    mistake(one + "--recompute ful", {"--recompute", "ful"});
    mistake(one + "--layers 2,99", {"99"});
    mistake(one + "--bands all", {"--bands is \"all\"", "none, best or simulated"});
    mistake(one + "--workers -1", {"--workers is -1"});
    mistake(one + "--csv a --json-lines a", {"both a"});
    mistake(one + "--csv /nowhere/a.csv", {"/nowhere/a.csv", "cannot be written"});
    mistake("--sweep /nowhere.json", {"/nowhere.json"});
    mistake("--sweep " + folder.write("key.json", R"({"model": "a"})"),
            {"key.json", "\"model\"", "did you mean \"models\""});
    mistake(
        "--sweep " + folder.write("value.json",
                                  R"({"models": "gpt2", "machines": "gh200-480gb", "batch": [0]})"),
        {"value.json: batch", "0"});
}

TEST_CASE("sweep: a part of another sweep is refused", "[search]") {
    const TemporaryFolder folder;
    const std::string part = folder.write("rows.jsonl.part", "{\"row\":0,\"model\":\"gpt2\"}\n");
    check_sluice_mistake("sweep --model qwen2.5-0.5b --machine gh200-480gb --json-lines " +
                             (folder.path / "rows.jsonl").string(),
                         {part + ": line 1", "no row of this sweep"});
    CHECK(text_of(part) == "{\"row\":0,\"model\":\"gpt2\"}\n");
}
