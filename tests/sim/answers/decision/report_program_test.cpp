// sluice report as people run it.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/sim/base/program_run.h"
#include "tests/sim/report/xml_nesting.h"

using namespace sluice::test;

namespace {

const std::string kModel = "--model qwen2.5-7b --layers 4 --batch 8 ";
const std::string kThree =
    "report " + kModel +
    "--machine gh200-480gb --machine h200-sxm-pcie5-1.5tb --cluster h100-sxm-pcie5:8 "
    "--tokens 20e9 --date 2026-01-02 ";

std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json json_of(const std::string& arguments) {
    const Result result = run_sluice(arguments + " --json");
    INFO(result.output);
    REQUIRE(result.status == 0);
    return nlohmann::json::parse(result.output);
}

/// Values of the page's <data> elements.
std::vector<double> values_of(const std::string& page) {
    static const std::regex pattern("<data value=\"([^\"]+)\">");
    std::vector<double> out;
    for (std::sregex_iterator match(page.begin(), page.end(), pattern), end; match != end; ++match)
        out.push_back(std::stod((*match)[1]));
    return out;
}

/// To twelve digits: the simulator's clock goes on from one prediction of a process to the next, so
/// that the last bits of differences of times change.
void check_value(const std::string& page, double value) {
    const std::vector<double> values = values_of(page);
    INFO(fmt::format("{}", value));
    CHECK(std::any_of(values.begin(), values.end(), [&](double one) {
        return std::abs(one - value) <= 1e-12 * std::abs(value);
    }));
}

}  // namespace

TEST_CASE("report: numbers are those of predict, cost and compare", "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string();
    const Result result = run_sluice(kThree + "--out " + file);
    INFO(result.output);
    REQUIRE(result.status == 0);
    CHECK_THAT(result.output,
               ContainsSubstring("Which of 3 machines") && ContainsSubstring("written: " + file));
    const std::string page = text_of(file);
    CHECK(sluice::nesting_error(page) == std::nullopt);
    CHECK_THAT(page, ContainsSubstring("2026-01-02") && ContainsSubstring("sluice 0."));
    for (const std::string machine :
         {"gh200-480gb", "h200-sxm-pcie5-1.5tb", "h100-sxm-pcie5 --schedule cluster --gpus 8"}) {
        const auto step = json_of("predict " + kModel + "--machine " + machine);
        check_value(page, step["tokens_per_s"]);
        check_value(page, step["device_peak_bytes"]);
        check_value(page, step["host_peak_bytes"]);
        const auto cost = json_of("cost " + kModel + "--tokens 20e9 --machine " + machine);
        check_value(page, cost["tokens_per_s_5_percent"]);
        check_value(page, cost["tokens_per_s_95_percent"]);
        check_value(page, cost["days"]["value"]);
        check_value(page, cost["payment"]["usd_per_hour"]);
        check_value(page, cost["payment"]["run_usd"]["value"]);
        check_value(page, cost["energy"]["run_kwh"]["value"]);
        for (const char* of_band : {"value", "5_percent", "95_percent"})
            check_value(page, cost["payment"]["usd_per_million_tokens"][of_band]);
    }
    const auto systems = json_of("compare " + kModel + "--machine gh200-480gb")["comparisons"][0];
    for (const auto& system : systems["systems"])
        if (system["fits"]) check_value(page, system["tokens_per_s"]);
    CHECK_THAT(page, ContainsSubstring("link.host_to_device_gb_per_s") &&
                         ContainsSubstring("price.rent_usd_per_gpu_hour.") &&
                         ContainsSubstring("<strong>estimated</strong>"));
}

TEST_CASE("report: given prices and the aim decide", "[decision]") {
    const TemporaryFolder folder;
    const std::string out = "--out " + (folder.path / "r.html").string();
    const std::string dear = "--price gh200-480gb=100 --price h100-sxm-pcie5:8=1000 ";
    CHECK_THAT(run_sluice(kThree + dear + out).output,
               ContainsSubstring("h200-sxm-pcie5-1.5tb trains it for the least money"));
    CHECK_THAT(run_sluice(kThree + "--by speed " + out).output,
               ContainsSubstring("8 x h100-sxm-pcie5 trains it fastest"));
}

TEST_CASE("report: the best settings of each machine are those of advise", "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string();
    const std::string one = "--model qwen2.5-7b --layers 4 --batch 16 --machine gh200-480gb ";
    const Result result = run_sluice("report --advise " + one + "--out " + file);
    INFO(result.output);
    REQUIRE(result.status == 0);
    const auto best = json_of("advise " + one)["machines"][0]["advice"]["best"];
    CHECK_THAT(result.output, ContainsSubstring(best["flags"].get<std::string>()));
    check_value(text_of(file), best["tokens_per_s"]);
}

TEST_CASE(
    "report: where sluice-train has no such model, a system with fp32 states that runs is taken",
    "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string(), out = "--out " + file;
    const std::string model = "--model gpt-oss-20b --layers 4 --batch 8 ";
    const std::string two = "report " + model + "--machine gh200-480gb --machine mi355x ";
    CHECK_THAT(run_sluice(two + out).output,
               ContainsSubstring("gh200-480gb (superoffload) trains it for the least money") &&
                   ContainsSubstring("mi355x (zero3-offload)") && !ContainsSubstring("Left out"));
    const auto step = json_of("predict " + model + "--machine gh200-480gb --schedule superoffload");
    check_value(text_of(file), step["tokens_per_s"]);
    for (const char* fixed : {"--planned-too ", "--schedule streamed ", "--plan given "})
        CHECK_THAT(run_sluice(two + fixed + out).output, !ContainsSubstring("(superoffload)"));
    CHECK_THAT(run_sluice(two + "--buffer-depth 3 " + out).output,
               ContainsSubstring("No program trains it this way today."));
}

TEST_CASE("report: mistakes are one sentence, exit status 2 and no file", "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "never.html").string();
    const auto mistake = [&](const std::string& arguments, const std::vector<std::string>& parts) {
        check_sluice_mistake(arguments + " --out " + file, parts);
        CHECK(!std::filesystem::exists(file));
    };
    mistake("report " + kModel, {"no machine is named", "--machine NAME"});
    mistake(kThree + "--usd-per-hour 3", {"--usd-per-hour is 3", "--price NAME=DOLLARS"});
    mistake(kThree + "--price-usd 3e4", {"--price-usd is 30000", "3 machines"});
    mistake(kThree + "--price gh200=1", {"\"gh200=1\"", "as in gh200-480gb=2.5"});
    mistake(kThree + "--price gh200-480gb=cheap", {"\"gh200-480gb=cheap\"", "expected"});
    mistake(kThree + "--by luck", {"--by is \"luck\"", "cost or speed"});
    mistake(kThree + "--schedule cluster", {"--cluster MACHINE:GPUS", "leave them out"});
    mistake(kThree + "--machine gh200-480gb", {"gh200-480gb is named twice"});
    mistake(kThree + "--advise --workers -1", {"--workers is -1"});
    mistake(kThree + "--offer nobody", {"--offer is \"nobody\"", "gh200-480gb"});
    mistake(kThree + "--cluster h100-sxm-pcie5:7", {"batch", "7"});
    check_sluice_mistake(kThree + "--out " + (folder.path / "r.pdf").string(),
                         {"r.pdf, expected an HTML file", "the window exports PDF"});
    check_sluice_mistake(kThree + "--out ''", {"--out", "not an empty one"});
    check_sluice_mistake(kThree + "--out " + (folder.path / "no" / "r.html").string(),
                         {"cannot be written"});
}

TEST_CASE("report: same settings everywhere are stated, and prices given are among the sources",
          "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string(), out = "--out " + file;
    const std::string words = "All machines have the settings as given, with batch 8;";
    CHECK_THAT(run_sluice(kThree + out).output,
               ContainsSubstring("Each machine has its fastest plan for batch 8.") &&
                   !ContainsSubstring(words));
    const std::string given = kThree + "--plan given --price gh200-480gb=2.5 --host-watts 250 ";
    CHECK_THAT(run_sluice(given + out).output,
               ContainsSubstring(words) && ContainsSubstring("--advise searches"));
    CHECK_THAT(text_of(file), ContainsSubstring(words) && ContainsSubstring("--price") &&
                                  ContainsSubstring("2.5 USD an hour") &&
                                  ContainsSubstring("250 W of host power for each GPU"));
    const std::string one = "report " + kModel + "--machine h200-sxm-pcie5 ";
    CHECK(run_sluice(one + "--price-usd 31234 " + out).status == 0);
    CHECK_THAT(text_of(file), ContainsSubstring("--price-usd") && ContainsSubstring("31234 USD") &&
                                  !ContainsSubstring("price.gpu_usd") &&
                                  !ContainsSubstring("price.system_usd"));
}

TEST_CASE("report: the page carries its scenarios", "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string();
    REQUIRE(run_sluice(kThree + "--price gh200-480gb=2.5 --out " + file).status == 0);
    const std::string page = text_of(file);
    for (const std::string name : {"gh200-480gb", "h200-sxm-pcie5-1.5tb", "8 x h100-sxm-pcie5"}) {
        const auto cost = json_of(fmt::format("cost --scenario '{}:{}'", file, name));
        INFO(name);
        check_value(page, cost["tokens_per_s"]);
        check_value(page, cost["payment"]["usd_per_hour"]);
        check_value(page, cost["payment"]["run_usd"]["value"]);
    }
    CHECK(json_of(fmt::format("cost --scenario '{}:gh200-480gb'",
                              file))["payment"]["usd_per_hour"] == 2.5);
    check_sluice_mistake("predict --scenario '" + folder.write("other.html", "<html></html>") + "'",
                         {"other.html is a page without scenarios"});
    check_sluice_mistake("predict --scenario '" + file + ":gh200'", {"8 x h100-sxm-pcie5"});
}

TEST_CASE("report: a cluster that trains adapters is compared with no system of one GPU",
          "[decision]") {
    const TemporaryFolder folder;
    const Result result = run_sluice(
        "report --model qwen2.5-7b --layers 4 --batch 128 --adapter-rank 16 --cluster "
        "h100-sxm-pcie5:8 --date 2026-01-02 --out " +
        (folder.path / "r.html").string());
    INFO(result.output);
    CHECK(result.status == 0);
    CHECK_THAT(text_of((folder.path / "r.html").string()),
               ContainsSubstring("not compared, since they train no adapters alone"));
}

TEST_CASE("report: a machine that is owned costs its electricity, on the page and when opened",
          "[decision]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "r.html").string(),
                      asked =
                          kModel + "--machine h200-sxm-pcie5-1.5tb --ownership own --plan given ";
    const Result result = run_sluice("report " + asked + "--date 2026-01-02 --out " + file);
    INFO(result.output);
    REQUIRE(result.status == 0);
    CHECK_THAT(result.output, ContainsSubstring("it pays the electricity of all 8 GPUs of the "
                                                "machine, and the machine is yours"));
    const nlohmann::json cost = json_of("cost " + asked),
                         opened = json_of("cost --scenario " + file);
    CHECK(cost["payment"]["run_usd"]["value"] == opened["payment"]["run_usd"]["value"]);
    check_value(text_of(file), cost["payment"]["run_usd"]["value"]);
    check_value(text_of(file), cost["energy"]["run_kwh"]["value"]);
}
