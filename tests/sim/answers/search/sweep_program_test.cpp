// sluice sweep as people run it: rows to the bit, in any number of processes.
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/answers/search/sweep_output.h"
#include "tests/sim/base/program_run.h"

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
    REQUIRE(run_sluice(kSweep + "--bands simulated --json --out " + out).status == 0);
    int compared = 0;
    for (const json& row : rows_of(out)) {
        if (row["state"] != "simulated") continue;
        const Result one =
            shell(kSluice + "predict --json --plan given --model qwen2.5-7b --layers " +
                  row["layers"].dump() + " --machine " + row["machine"].get<std::string>() +
                  " --batch " + row["batch"].dump() + " --micro-batch " +
                  row["micro_batch"].dump() + " --buffer-depth " + row["buffer_depth"].dump() +
                  " --recompute " + row["recompute"].get<std::string>());
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

TEST_CASE("sweep: the same files whatever the processes", "[search]") {
    const TemporaryFolder folder;
    const auto name = [&](const std::string& file) { return (folder.path / file).string(); };
    REQUIRE(run_sluice(kSweep + "--workers 1 --json --out " + name("one.jsonl")).status == 0);
    REQUIRE(run_sluice(kSweep + "--workers 3 --json --out " + name("three.jsonl")).status == 0);
    REQUIRE(run_sluice(kSweep + "--workers 3 --out " + name("three.csv")).status == 0);
    CHECK(shell(kSluice + kSweep + "--csv 2>/dev/null").output == text_of(name("three.csv")));
    CHECK(shell(kSluice + kSweep + "--json 2>/dev/null").output == text_of(name("one.jsonl")));
    CHECK(text_of(name("one.jsonl")) == text_of(name("three.jsonl")));
}

TEST_CASE("sweep: only the columns that are asked for, in that order", "[search]") {
    const std::string one =
        "sweep --model qwen2.5-0.5b --machine gh200-480gb --layers 1 --batch 2,1 --bands none "
        "--columns state,batch,reason ";
    CHECK(shell(kSluice + one + "2>/dev/null").output ==
          "state,batch,reason\nsimulated,2,\nsimulated,1,\n");
    CHECK(shell(kSluice + one + "--json 2>/dev/null").output ==
          "{\"state\":\"simulated\",\"batch\":2}\n{\"state\":\"simulated\",\"batch\":1}\n");
}

TEST_CASE("sweep: a name that is no UTF-8 does not cost the rows", "[search]") {
    const sluice::ModelSpec model;
    sluice::MachineSpec machine;
    machine.id = "x\xff";
    sluice::SearchRow row;
    row.state = sluice::RowState::too_large;
    const json parsed = json::parse(
        sluice::row_json(row, {&model, &machine, {}, {}}, false, sluice::sweep_columns()));
    CHECK(parsed["machine"] == "x\xEF\xBF\xBD");
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

TEST_CASE("sweep: one row is not several", "[search]") {
    const std::string one = "sweep --model qwen2.5-0.5b --machine gh200-480gb --bands none ";
    CHECK_THAT(run_sluice(one + "--layers 1 --batch 1").output,
               ContainsSubstring("sweep: 1 row in "));
    CHECK_THAT(run_sluice(one + "--batch 1,2").output, ContainsSubstring("sweep: 2 rows in "));
    CHECK_THAT(run_sluice("predict --model qwen2.5-0.5b --machine gh200-480gb --layers 1").output,
               ContainsSubstring(" parameters, 1 layer) on "));
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
    mistake(one + "--columns batch,tokens_per_sec",
            {"--columns", "\"tokens_per_sec\" is no column", "did you mean \"tokens_per_s\""});
    mistake(one + "--columns batch,batch", {"\"batch\" twice"});
    mistake(one + "--csv --json", {"--json and --csv", "give one"});
    mistake(one + "--out ''", {"--out needs the name of a file"});
    mistake(one + "--out /nowhere/a.csv", {"/nowhere/a.csv", "cannot be written"});
    mistake("--sweep /nowhere.json", {"/nowhere.json"});
    mistake("--sweep " + folder.write("key.json", R"({"model": "a"})"),
            {"key.json", "\"model\"", "did you mean \"models\""});
    mistake(
        "--sweep " + folder.write("value.json",
                                  R"({"models": "gpt2", "machines": "gh200-480gb", "batch": [0]})"),
        {"value.json: batch", "0"});
}

TEST_CASE("sweep: who interrupts it reads that nothing is kept", "[search]") {
    // Seconds of work.
    std::string batches = "1";
    for (int batch = 2; batch <= 400; ++batch) batches += "," + std::to_string(batch);
    // Once it has computed for 0.1 s, however long that takes. env: what runs in the background of
    // a shell ignores the signal.
    const Result interrupted =
        shell("exec 3>&1; env --default-signal=INT " + kSluice +
              "sweep --model llama-3.1-70b --machine h200-sxm-pcie5-1.5tb --workers 2 --batch " +
              batches +
              " --buffer-depth 1,2,3 --recompute full,none --all 2>&3 >/dev/null & process=$!; "
              "while [ \"$(cut -d ' ' -f 14 /proc/$process/stat)\" -lt 10 ]; do sleep 0.01; done; "
              "kill -INT $process; wait $process");
    INFO(interrupted.output);
    CHECK(interrupted.status == 128 + SIGINT);
    CHECK_THAT(interrupted.output, ContainsSubstring("interrupted; no rows are written"));
}
