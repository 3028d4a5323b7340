// sluice sweep as people run it: rows to the bit, resumed, in any number of processes.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

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

/// What a sweep leaves that ends before its rows are written: all that it simulated.
std::string interrupted(const TemporaryFolder& folder, const std::string& sweep,
                        const std::string& stem) {
    const std::filesystem::path out = folder.path / (stem + ".jsonl");
    std::filesystem::create_directories(out / "in the way");
    CHECK(run_sluice(sweep + "--json --out " + out.string()).status == 2);
    std::filesystem::remove_all(out);
    return text_of(out.string() + ".part");
}

}  // namespace

TEST_CASE("sweep: a simulated row equals sluice predict to the bit", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string();
    REQUIRE(run_sluice(kSweep + "--bands simulated --json --out " + out).status == 0);
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
        return "--json --out " + name(stem + ".jsonl");
    };
    REQUIRE(run_sluice(kSweep + "--workers 1 " + files("one")).status == 0);
    REQUIRE(run_sluice(kSweep + "--workers 3 " + files("three")).status == 0);
    REQUIRE(run_sluice(kSweep + "--workers 3 --out " + name("three.csv")).status == 0);
    CHECK(shell(kSluice + kSweep + "--csv 2>/dev/null").output == text_of(name("three.csv")));
    CHECK(shell(kSluice + kSweep + "--json 2>/dev/null").output == text_of(name("one.jsonl")));
    CHECK(text_of(name("one.jsonl")) == text_of(name("three.jsonl")));
    CHECK(!std::filesystem::exists(name("one.jsonl.part")));

    // What an interrupted sweep leaves: some of the simulated rows, the last cut off.
    const std::string part = interrupted(folder, kSweep, "again");
    std::ofstream(name("again.jsonl.part")) << part.substr(0, part.size() / 2);
    const Result again = run_sluice(kSweep + files("again"));
    CHECK(again.status == 0);
    CHECK_THAT(again.output, ContainsSubstring("continues"));
    CHECK(text_of(name("again.jsonl")) == text_of(name("one.jsonl")));

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

TEST_CASE("sweep: rows that rest on something else are refused, and kept", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string(), part = out + ".part";
    const std::string profile =
        folder.write("mine.json", text_of(SLUICE_SOURCE_DIR "/hwprofiles/l40s.json"));
    const std::string sweep = "sweep --model qwen2.5-0.5b --machine " + profile +
                              " --host-memory 256GB --batch 1,2 --all ";
    const std::string kept = interrupted(folder, sweep, "rows");
    REQUIRE(std::count(kept.begin(), kept.end(), '\n') >= 3);
    const auto refused = [&](const std::string& arguments, const std::string& changed) {
        check_sluice_mistake(arguments + " --json --out " + out,
                             {part, "interrupted sweep", changed + " changed", "remove the file"});
        CHECK(text_of(part) == kept);
    };
    refused(sweep + "--set link.host_to_device_gb_per_s=50", "machines or their --set values");
    refused(sweep + "--seq 512", "options");
    refused(sweep + "--layers 12", "models");

    std::string text = text_of(profile);
    const std::size_t name = text.find("\"cores\"");
    REQUIRE(name != std::string::npos);
    const std::size_t digit = text.find_first_of("0123456789", name);
    text.insert(digit, "1");
    folder.write("mine.json", text);
    refused(sweep, "machines or their --set values");

    folder.write("mine.json", text_of(SLUICE_SOURCE_DIR "/hwprofiles/l40s.json"));
    std::string other_program = kept;
    other_program.replace(other_program.find("the program\":\"") + 14, 1, "x");
    std::ofstream(part) << other_program;
    check_sluice_mistake(sweep + " --json --out " + out, {part, "the program changed"});

    std::ofstream(part) << kept;
    const Result whole = run_sluice(sweep + " --json --out " + out);
    CHECK(whole.status == 0);
    CHECK_THAT(whole.output, ContainsSubstring("2 rows are simulated already"));
    CHECK(!std::filesystem::exists(part));
}

TEST_CASE("sweep: a part of another sweep is refused", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string(), part = out + ".part";
    const std::string sweep =
        "sweep --model qwen2.5-0.5b --machine gh200-480gb --batch 1,2 --json --out " + out;
    std::ofstream(part) << "{\"row\":0,\"model\":\"gpt2\"}\n";
    check_sluice_mistake(sweep, {part + ": line 1", "does not say", "remove the file"});
    CHECK(text_of(part) == "{\"row\":0,\"model\":\"gpt2\"}\n");

    std::filesystem::remove(part);
    std::string rows = interrupted(
        folder, "sweep --model qwen2.5-0.5b --machine gh200-480gb --batch 1,2 ", "rows");
    rows += "{\"row\":0,\"model\":\"gpt2\"}\n";
    std::ofstream(part) << rows;
    check_sluice_mistake(sweep, {part + ": line", "no row of this sweep"});
    CHECK(text_of(part) == rows);
}

TEST_CASE("sweep: two do not write one file", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string(), part = out + ".part";
    const std::string sweep =
        "sweep --model qwen2.5-0.5b --machine gh200-480gb --json --out " + out;
    const std::string kept =
        interrupted(folder, "sweep --model qwen2.5-0.5b --machine gh200-480gb ", "rows");
    const int file = open(part.c_str(), O_RDWR);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    REQUIRE(fcntl(file, F_SETLK, &whole) == 0);
    check_sluice_mistake(sweep, {part, "another sweep", std::to_string(getpid()), "another name"});
    CHECK(text_of(part) == kept);
    close(file);
    CHECK(run_sluice(sweep).status == 0);
}

TEST_CASE("sweep: who interrupts it reads what is kept, and it goes on from there", "[search]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path / "rows.jsonl").string(), part = out + ".part";
    // Seconds of work; interrupted once some rows are there.
    std::string batches = "1";
    for (int batch = 2; batch <= 400; ++batch) batches += "," + std::to_string(batch);
    const std::string sweep =
        "sweep --model llama-3.1-70b --machine h200-sxm-pcie5-1.5tb --batch " + batches +
        " --buffer-depth 1,2,3 --recompute full,none --all ";
    const Result kept =
        shell("{ exec 3>&1; " + kSluice + sweep + "--json --out " + out +
              " >/dev/null 2>&3 3>&- & } ; p=$!; while kill -0 $p && [ \"$(cat '" + part +
              "' 2>/dev/null | wc -l)\" -lt 3 ]; do :; done; kill -TERM $p; wait $p");
    INFO(kept.output);
    CHECK(kept.status == 128 + SIGTERM);
    CHECK(std::count(kept.output.begin(), kept.output.end(), '\n') == 1);
    CHECK_THAT(kept.output, ContainsSubstring("interrupted") && ContainsSubstring(part) &&
                                ContainsSubstring("the same command continues"));
    const std::string rows = text_of(part);
    const auto count = std::count(rows.begin(), rows.end(), '\n') - 1;
    CHECK(count >= 2);
    CHECK_THAT(kept.output, ContainsSubstring(" " + std::to_string(count) + " simulated rows"));

    const Result nothing =
        shell("timeout --preserve-status -s INT 0.3 " + kSluice + sweep + "2>&1 >/dev/null");
    CHECK(nothing.status == 128 + SIGINT);
    CHECK_THAT(nothing.output,
               ContainsSubstring("nothing is kept") && ContainsSubstring("--out names no file"));
}
