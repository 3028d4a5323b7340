// The program as people run it: exit status, one sentence for a mistake, files written whole.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.h"

namespace {

struct Result {
    int status = 0;
    std::string output;  ///< of both streams
};

Result run(const std::string& arguments) {
    const std::string command = "'" SLUICE_BINARY "' " + arguments + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Result result;
    std::array<char, 4096> buffer{};
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
        result.output.append(buffer.data(), n);
    result.status = WEXITSTATUS(pclose(pipe));
    return result;
}

const std::string kPredict = "predict --model qwen2.5-7b --machine h200-sxm-pcie5 ";

/// Exit 2, the parts in the message, and one line.
void check_mistake(const std::string& arguments, const std::vector<std::string>& parts) {
    const Result result = run(arguments);
    INFO(arguments << "\n" << result.output);
    CHECK(result.status == 2);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
    for (const std::string& part : parts) CHECK_THAT(result.output, ContainsSubstring(part));
}

/// A folder of its own, removed at the end.
struct TemporaryFolder {
    std::filesystem::path path;
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
};

}  // namespace

TEST_CASE("cli: predict answers as text and as JSON with the promised keys", "[cli]") {
    const Result text = run(kPredict + "--batch 8");
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("tokens/s"));
    const Result json = run(kPredict + "--batch 8 --json");
    REQUIRE(json.status == 0);
    const auto parsed = nlohmann::json::parse(json.output);
    for (const char* key : {"fits", "step_s", "tokens_per_s", "model_tflops_per_s", "utilization",
                            "bottleneck", "device_peak_bytes", "device_capacity_bytes",
                            "host_peak_bytes", "host_capacity_bytes", "confidence", "memory"}) {
        INFO(key);
        CHECK(parsed.contains(key));
    }
    CHECK(parsed["tokens_per_s"].get<double>() ==
          Approx(8 * 1024 / parsed["step_s"].get<double>()));
    CHECK(parsed["model_tflops_per_s"].get<double>() ==
          Approx(6 * 7615616512.0 * 8192 / parsed["step_s"].get<double>() / 1e12));
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
    check_mistake("predict --model qwen2.5-7c --machine h200-sxm-pcie5",
                  {"unknown model \"qwen2.5-7c\"", "did you mean \"qwen2.5-7b\""});
    check_mistake("predict --model qwen2.5-7b --machine h200-sxm-pcie6",
                  {"unknown machine \"h200-sxm-pcie6\"", "did you mean \"h200-sxm-pcie5\""});
    check_mistake(kPredict + "--batch -3", {"--batch", "-3", "from 1 to"});
    check_mistake(kPredict + "--batch 1e9", {"--batch", "1e9"});
    check_mistake(kPredict + "--batch eight", {"--batch", "eight", "whole number"});
    check_mistake(kPredict + "--batch 8 --micro-batch 3",
                  {"--batch is 8", "multiple of --micro-batch (3)"});
    check_mistake(kPredict + "--recompute al",
                  {"--recompute", "\"al\"", "full or keep_attention or none"});
    check_mistake(kPredict + "--micro-bacth 3", {"--micro-bacth"});
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
    check_mistake("predict --model qwen2.5-7b --machine rtx-4090",
                  {"memory_capacity_gb", "--host-memory"});
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
    CHECK(start == "<?xml");
    CHECK_FALSE(std::filesystem::exists(trace + ".part"));
}
