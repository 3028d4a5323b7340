// The program as people run it: exit status, one sentence for a mistake, files written whole.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

namespace {

Result run(const std::string& arguments) { return run_sluice(arguments); }
void check_mistake(const std::string& arguments, const std::vector<std::string>& parts) {
    check_sluice_mistake(arguments, parts);
}

const std::string kPredict = "predict --model qwen2.5-7b --machine h200-sxm-pcie5 ";

}  // namespace

TEST_CASE("sluice predict: the heading has only options of the schedule", "[cli]") {
    const auto heading = [](const std::string& schedule) {
        return run_sluice(
                   "predict --plan given --model qwen2.5-0.5b --machine h200-sxm-pcie5 "
                   "--schedule " +
                   schedule)
            .output;
    };
    CHECK_THAT(heading("streamed"), ContainsSubstring("seq 1024, buffer_depth 2\n"));
    CHECK_THAT(heading("zero3-offload"), ContainsSubstring("batch 8, seq 1024\n"));
}

TEST_CASE("cli: predict answers as text and as JSON with the promised keys", "[cli]") {
    const Result text = run(kPredict + "--batch 8");
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("tokens/s (5 to 95%: "));
    const Result json = run(kPredict + "--batch 8 --json");
    REQUIRE(json.status == 0);
    const auto parsed = nlohmann::json::parse(json.output);
    for (const char* key :
         {"fits", "step_s", "step_5_percent_s", "step_95_percent_s", "tokens_per_s",
          "tokens_per_s_5_percent", "tokens_per_s_95_percent", "model_tflops_per_s", "utilization",
          "bottleneck", "device_peak_bytes", "device_capacity_bytes", "host_peak_bytes",
          "host_capacity_bytes", "confidence", "memory"}) {
        INFO(key);
        CHECK(parsed.contains(key));
    }
    CHECK(parsed["tokens_per_s"].get<double>() ==
          Approx(8 * 1024 / parsed["step_s"].get<double>()));
    CHECK(parsed["model_tflops_per_s"].get<double>() ==
          Approx(6 * 7615616512.0 * 8192 / parsed["step_s"].get<double>() / 1e12));
}

TEST_CASE("cli: the chosen plan is what its settings predict", "[cli]") {
    const Result chosen = run(kPredict + "--batch 8 --plan auto --json");
    REQUIRE(chosen.status == 0);
    const auto automatic = nlohmann::json::parse(chosen.output);
    CHECK(automatic["training"]["resident_layers"] > 0);
    CHECK(!automatic["chosen"].empty());
    const TemporaryFolder folder;
    const std::string file = (folder.path / "chosen.json").string();
    std::ofstream(file) << automatic["training"];
    const Result again = run(kPredict + "--json --training " + file);
    CHECK(nlohmann::json::parse(again.output)["step_s"] == automatic["step_s"]);
    const Result kept = run(kPredict + "--plan auto --resident-layers 2 --json");
    CHECK(nlohmann::json::parse(kept.output)["training"]["resident_layers"] == 2);
    check_mistake(kPredict + "--plan best", {"--plan", "best", "given, users or auto"});
}

TEST_CASE("cli: models and machines are listed and shown", "[cli]") {
    CHECK_THAT(run("models").output, ContainsSubstring("qwen2.5-7b"));
    CHECK(nlohmann::json::parse(run("models show qwen2.5-7b --json").output)["parameters"] ==
          7615616512);
    CHECK_THAT(run("machines").output, ContainsSubstring("gh200-480gb"));
    CHECK_THAT(run("machines show gh200-480gb").output,
               ContainsSubstring("link.host_to_device_gb_per_s"));
    CHECK(nlohmann::json::parse(
              run("machines show gh200-480gb --json")
                  .output)["quantities"]["link.host_to_device_gb_per_s"]["value"] == 380);
    CHECK_THAT(run("explain --model qwen2.5-0.5b --machine gh200-480gb").output,
               ContainsSubstring("backward 23"));
}

TEST_CASE("cli: mistakes are one sentence and exit 2", "[cli]") {
    check_mistake(
        "predict --model qwen2.5-7b --machine H200",
        {"unknown machine \"H200\"", "\"h200-nvl-pcie5\", ", " or \"gh200-144gb-hbm3e\"?"});
    check_mistake("predict --model qwen2.5-7c --machine h200-sxm-pcie5",
                  {"unknown model \"qwen2.5-7c\"", "did you mean \"qwen2.5-7b\""});
    check_mistake("predict --model qwen2.5-7b --machine h200-sxm-pcie6",
                  {"unknown machine \"h200-sxm-pcie6\"", "did you mean \"h200-sxm-pcie5\""});
    check_mistake(kPredict + "--batch -3", {"--batch", "-3", "from 1 to"});
    check_mistake(kPredict + "--batch 1e9", {"--batch", "1e9"});
    check_mistake(kPredict + "--batch eight", {"--batch", "eight", "whole number"});
    check_mistake(kPredict + "--batch 8 --micro-batch 3",
                  {"--batch is 8", "multiple of --micro-batch (3)"});
    check_mistake(kPredict + "--micro-batch -1",
                  {"--micro-batch is -1", "to 1000000, or 0 for the whole batch"});
    check_mistake(kPredict + "--recompute al",
                  {"--recompute", "\"al\"", "full or keep_attention or none"});
    check_mistake(kPredict + "--micro-bacth 3",
                  {"unknown option \"--micro-bacth\"", "did you mean \"--micro-batch\""});
    check_mistake(kPredict + "--hm 1TB",
                  {"unknown option \"--hm\"", "did you mean \"--host-memory\"?"});
    check_mistake(kPredict + "--layers 29", {"--layers is 29", "1 to 28"});
    check_mistake(kPredict + "--host-memory 12XB", {"--host-memory", "12XB", "1.5TB"});
    check_mistake(kPredict + "--set link.host_to_device=5",
                  {"link.host_to_device", "did you mean"});
    check_mistake(kPredict + "--set link.host_to_device_gb_per_s=-5",
                  {"link.host_to_device_gb_per_s", "-5", "above 0"});
    check_mistake("predict --model /nowhere/config.json --machine h200-sxm-pcie5",
                  {"/nowhere/config.json: no such file"});
    check_mistake("predict --model qwen2.5-7b --machine apple-m3-ultra",
                  {"bf16_dense_tflops", "--set"});
    check_mistake(kPredict + "--trace /nowhere/trace.json",
                  {"/nowhere/trace.json: cannot be written"});
    check_mistake("", {"subcommand"});
}

TEST_CASE("cli: a training file gives settings, flags go before it, and its mistakes name the file",
          "[cli]") {
    const TemporaryFolder folder;
    const std::string good =
        folder.write("training.json", R"({"batch": 4, "seq": 512, "buffer_depth": 3})");
    const auto parsed =
        nlohmann::json::parse(run(kPredict + "--training '" + good + "' --batch 2 --json").output);
    CHECK(parsed["training"]["batch"] == 2);
    CHECK(parsed["training"]["seq"] == 512);
    CHECK(parsed["training"]["buffer_depth"] == 3);
    const std::string typo = folder.write("typo.json", R"({"mirco_batch": 4})");
    check_mistake(kPredict + "--training '" + typo + "'",
                  {"typo.json", "unknown key \"mirco_batch\"", "did you mean \"micro_batch\""});
    const std::string cut = folder.write("cut.json", R"({"batch": 4, "se)");
    check_mistake(kPredict + "--training '" + cut + "'", {"cut.json", "truncated"});
}

TEST_CASE("cli: a plan that does not fit is a result: by how much, what is largest, what fits",
          "[cli]") {
    const Result result = run("predict --model 120b --machine h200-sxm-pcie5-512gb --batch 16");
    CHECK(result.status == 0);
    CHECK_THAT(result.output, ContainsSubstring("DOES NOT FIT"));
    CHECK_THAT(result.output, ContainsSubstring("short"));
    CHECK_THAT(result.output, ContainsSubstring("largest: optimizer state"));
    CHECK_THAT(result.output, ContainsSubstring("fits with --host-memory"));
}

TEST_CASE("cli: trace and timeline are written", "[cli]") {
    const TemporaryFolder folder;
    const std::string trace = (folder.path / "t.json").string(),
                      timeline = (folder.path / "t.svg").string();
    REQUIRE(run(kPredict + "--trace '" + trace + "' --timeline '" + timeline + "'").status == 0);
    std::ifstream trace_file(trace), timeline_file(timeline);
    CHECK(nlohmann::json::parse(trace_file).contains("traceEvents"));
    std::string start(5, '\0');
    timeline_file.read(start.data(), 5);
    CHECK(start == "<svg ");
    CHECK_FALSE(std::filesystem::exists(trace + ".part"));
}

TEST_CASE("cli: words that are not known are named, with the nearest", "[cli]") {
    check_mistake("predikt --model qwen2.5-7b", {"unknown command \"predikt\"", "\"predict\""});
    check_mistake(kPredict + "--bacth 8", {"unknown option \"--bacth\"", "\"--batch\""});
    check_mistake(kPredict + "--batch ''", {"--batch", "whole number"});
    check_mistake(kPredict + "--trace ''", {"--trace", "name of a file"});
    check_mistake(kPredict + "--host-memory 1.5", {"--host-memory is 1.5", "1.5TB"});
    check_mistake(kPredict + "--keep-last-layers 29", {"--keep-last-layers is 29", "(28)"});
    check_mistake(kPredict + "--resident-layers 29", {"--resident-layers is 29", "(28)"});
    check_mistake(kPredict + "--optimizer-threads 1000", {"--optimizer-threads is 1000", "cores"});
    check_mistake("predict --model gpt2 --machine h200-sxm-pcie5 --seq 2048",
                  {"--seq is 2048", "1024 learned positions"});
}

TEST_CASE("cli: --set of a number that changes nothing says which do", "[cli]") {
    check_mistake(
        "predict --model qwen2.5-7b --machine gh200-480gb "
        "--set host.memory_bandwidth_gb_per_s=500",
        {"host.memory_bandwidth_gb_per_s changes nothing",
         "host.memory_bandwidth_stream_gb_per_s"});
    const Result used = run(kPredict + "--set link.host_to_device_gb_per_s=100");
    CHECK(used.status == 0);
    CHECK_THAT(used.output, ContainsSubstring("what-if: --set link.host_to_device_gb_per_s=100"));
}

TEST_CASE("cli: a model is found by the name it has on a hub, and by its folder", "[cli]") {
    CHECK_THAT(run("models show Qwen/Qwen2.5-7B").output, ContainsSubstring("qwen2.5-7b:"));
    const TemporaryFolder folder;
    folder.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "vocab_size": 100,
        "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128})");
    CHECK_THAT(run("models show '" + folder.path.string() + "'").output,
               ContainsSubstring("2 layers"));
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(folder.path.parent_path());
    CHECK_THAT(run("models show " + folder.path.filename().string()).output,
               ContainsSubstring("2 layers"));
    check_mistake("models show .", {"./config.json: no such file"});
    std::filesystem::current_path(here);
    check_mistake("models show '" + std::string(5000, 'x') + "'", {"unknown model"});
}

TEST_CASE("cli: a file is written through a link and into a pipe, and leaves others alone",
          "[cli]") {
    const TemporaryFolder folder;
    const std::string target = folder.write("target.svg", "old");
    const std::string neighbour = folder.write("target.svg.part", "mine");
    std::filesystem::create_symlink(target, folder.path / "link.svg");
    REQUIRE(run(kPredict + "--timeline '" + (folder.path / "link.svg").string() + "'").status == 0);
    CHECK(std::filesystem::is_symlink(folder.path / "link.svg"));
    CHECK(std::filesystem::file_size(target) > 1000);
    CHECK(std::filesystem::file_size(neighbour) == 4);
    const std::string pipe = (folder.path / "pipe").string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const Result through = shell(kSluice + kPredict + "--timeline '" + pipe +
                                 "' >/dev/null & cat '" + pipe + "'; wait");
    CHECK_THAT(through.output, ContainsSubstring("<svg"));
    CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("cli: no output replaces a file that the command reads", "[cli]") {
    const TemporaryFolder folder;
    const std::string profile = (folder.path / "p.json").string();
    std::filesystem::copy_file(SLUICE_SOURCE_DIR "/hwprofiles/h200-sxm-pcie5.json", profile);
    const auto size = std::filesystem::file_size(profile);
    const std::string on_profile = " --model qwen2.5-7b --machine " + profile + " ";
    const std::string reads = "also reads that file";
    check_mistake("predict" + on_profile + "--trace " + profile, {"--trace " + profile, reads});
    check_mistake("predict" + on_profile + "--timeline " + profile, {"--timeline", reads});
    check_mistake("sweep --batch 1" + on_profile + "--out " + profile, {"--out", reads});
    check_mistake("compare" + on_profile + "--svg " + profile, {"--svg", reads});
    check_mistake("sensitivity" + on_profile + "--svg " + profile, {"--svg", reads});
    check_mistake("report" + on_profile + "--out " + profile, {"--out", reads});
    check_mistake("compare --model qwen2.5-7b --cluster " + profile + ":8 --svg " + profile,
                  {"--svg", reads});
    check_mistake("validate " + profile + " --html " + profile, {"--html", reads});
    check_mistake("sweep --batch 1" + on_profile + "--out /", {"--out /: is a folder"});
    CHECK(std::filesystem::file_size(profile) == size);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("cli: a pipe that nobody writes to does not hang, one with a writer is read", "[cli]") {
    const TemporaryFolder folder;
    const std::string pipe = (folder.path / "pipe").string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& command : std::initializer_list<std::string>{
             "predict --model qwen2.5-7b --machine ", "predict --machine h200-sxm-pcie5 --model ",
             "predict --scenario ", kPredict + "--training "})
        check_mistake(command + pipe, {pipe, "a pipe that nobody writes to"});
    const Result late = shell("(sleep 0.2; echo '{\"batch\": 4}') | " + kSluice + kPredict +
                              "--training /dev/stdin");
    CHECK(late.status == 0);
    CHECK_THAT(late.output, ContainsSubstring("batch 4,"));
}

TEST_CASE("cli: control characters do not reach the terminal", "[cli]") {
    check_mistake("predict --machine gh200-480gb --model \"$(printf 'a\\033[31m\\302\\233\\nb')\"",
                  {"a\\x1b[31m\\x9b b"});
}

TEST_CASE("cli: the version is said", "[cli]") {
    const Result said = run("--version");
    CHECK(said.status == 0);
    CHECK_THAT(said.output, Catch::Matchers::Matches("sluice [0-9]+[.][0-9]+[.][0-9]+\n"));
}

TEST_CASE("cli: output that cannot be written is a mistake", "[cli]") {
    const Result full = shell(kSluice + "machines 2>&1 >/dev/full");
    CHECK(full.status == 2);
    CHECK_THAT(full.output, ContainsSubstring("standard output cannot be written"));
}

TEST_CASE("cli: advice for a plan that does not fit can be followed", "[cli]") {
    const std::string base =
        "predict --plan given --model qwen2.5-7b --machine rtx-4090 --host-memory 512GB "
        "--batch 64 --seq 4096 --micro-batch 16 ";
    const auto parsed = nlohmann::json::parse(run(base + "--json").output);
    REQUIRE_FALSE(parsed["fits"].get<bool>());
    REQUIRE_FALSE(parsed["suggestions"].empty());
    for (const auto& suggestion : parsed["suggestions"]) {
        const std::string flags = suggestion["flags"];
        const std::string without = flags.find("--micro-batch") == std::string::npos
                                        ? base
                                        : base.substr(0, base.find("--micro-batch"));
        std::string command = without;
        if (flags.find("--batch") != std::string::npos)
            command.erase(command.find("--batch 64"), std::string("--batch 64").size());
        if (flags.find("--seq") != std::string::npos)
            command.erase(command.find("--seq 4096"), std::string("--seq 4096").size());
        INFO(command + flags);
        const Result followed = run(command + " " + flags + " --json");
        REQUIRE(followed.status == 0);
        CHECK(nlohmann::json::parse(followed.output)["fits"].get<bool>());
    }
    // Advice that breaks a rule is left out, and does not end the prediction.
    CHECK(run("predict --model qwen2.5-7b --machine h200-sxm-pcie5 --batch 32768 --seq 4096")
              .status == 0);
}

TEST_CASE("cli: input that would be ignored is refused, or said to change nothing", "[cli]") {
    const std::string wrong = "--model qwen2.5-7b --visiting-layers 40 ";
    for (const std::string command :
         {"fit --find machine ", "advise --machine rtx-4090 ", "predict --machine rtx-4090 ",
          "compare --machine rtx-4090 ", "explain --machine rtx-4090 ",
          "sensitivity --machine rtx-4090 "})
        check_mistake(command + wrong,
                      {"--visiting-layers is 40, expected at most the layers (28)"});
    check_mistake(kPredict + "--timeline x.png", {"--timeline x.png", ".svg"});
    check_mistake(kPredict + "--device-budget-bytes 16",
                  {"--device-budget-bytes is 16, less than 1 MB", "16GB"});
    check_mistake("predict --schedule nosuch --help", {"--schedule is \"nosuch\""});
    check_mistake(kPredict + "--distinct-tokens 100000000", {"--distinct-tokens is 100000000"});
    const Result untied = run(kPredict + "--plan given --untied");
    CHECK(untied.status == 0);
    CHECK_THAT(untied.output, ContainsSubstring("--untied changes nothing: qwen2.5-7b has"));
    const Result other =
        run("predict --plan given --model qwen2.5-7b --machine rtx-4090-1tb --host-memory 200GB");
    CHECK_THAT(other.output, ContainsSubstring(" on rtx-4090\n") &&
                                 ContainsSubstring("what-if: --host-memory 200GB"));
}

TEST_CASE("cli: explain says what it plans, whether it fits, and as JSON all of it", "[cli]") {
    const std::string asked = "explain --model qwen2.5-14b --machine rtx-4090 ";
    CHECK_THAT(run(asked).output, ContainsSubstring("schedule streamed, batch 8") &&
                                      ContainsSubstring("DOES NOT FIT"));
    const nlohmann::json json = nlohmann::json::parse(run(asked + "--json").output);
    CHECK(json["fits"] == false);
    CHECK(json["training"]["batch"] == 8);
    CHECK(json["operations"]["rows"].size() > 48);
}
