// sluice advise as people run it.
#include <map>
#include <nlohmann/json.hpp>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

namespace {

const std::string kAdvise = "advise --model qwen2.5-7b --layers 4 --machine gh200-480gb ";

}  // namespace

TEST_CASE("advise: text and JSON; the best equals sluice predict to the bit", "[search]") {
    const Result text = run_sluice(kAdvise + "--most-batch 16");
    CHECK(text.status == 0);
    for (const char* part : {"best ", "tokens/s (5 to 95%", "one choice changed", "buffer_depth",
                             "combinations", " an hour ("})
        CHECK_THAT(text.output, ContainsSubstring(part));
    const Result out = run_sluice(kAdvise + "--most-batch 16 --json");
    REQUIRE(out.status == 0);
    const auto best = nlohmann::json::parse(out.output)["machines"][0]["advice"]["best"];
    const Result one =
        run_sluice("predict --plan given --model qwen2.5-7b --layers 4 --machine gh200-480gb " +
                   best["flags"].get<std::string>() + " --json");
    REQUIRE(one.status == 0);
    const auto report = nlohmann::json::parse(one.output);
    for (const char* key : {"step_s", "step_5_percent_s", "step_95_percent_s", "tokens_per_s",
                            "device_peak_bytes", "host_peak_bytes"})
        CHECK(best[key] == report[key]);
    CHECK(run_sluice(kAdvise + "--most-batch 16 --json --workers 1").output == out.output);
}

TEST_CASE("advise: constraints on speed and price choose the machine", "[search]") {
    const std::string two = kAdvise + "h200-sxm-pcie5 --most-batch 8 ";
    const Result cheap =
        run_sluice(two + "--price gh200-480gb=5 h200-sxm-pcie5=3 --max-usd-per-hour 4");
    CHECK(cheap.status == 0);
    CHECK_THAT(cheap.output, ContainsSubstring("best machine, the fastest: h200-sxm-pcie5\n") &&
                                 ContainsSubstring("more than $4.00") &&
                                 !ContainsSubstring("its lead"));
    const Result fast = run_sluice(two + "--tokens-per-s 1e9");
    CHECK_THAT(fast.output,
               ContainsSubstring(
                   "best machine, the fastest with at least 1,000,000,000 tokens/s: none\n") &&
                   ContainsSubstring("no settings reach 1,000,000,000"));
}

TEST_CASE("advise: where another machine is cheaper than the fastest, it says which", "[search]") {
    const std::string two = kAdvise + "v100-32gb-sxm --batch 8 --price v100-32gb-sxm=0.01 ";
    CHECK_THAT(run_sluice(two + "gh200-480gb=5").output,
               ContainsSubstring("best machine, the fastest: gh200-480gb\n") &&
                   ContainsSubstring("cheapest per million tokens: v100-32gb-sxm, $"));
    CHECK_THAT(run_sluice(two + "gh200-480gb=0.0001").output,
               ContainsSubstring("it is also the cheapest per million tokens"));
    const auto json = nlohmann::json::parse(run_sluice(two + "gh200-480gb=5 --json").output);
    CHECK(json["best_machine"] == "gh200-480gb");
    CHECK(json["best_machine_by"] == "tokens_per_s");
    CHECK(json["cheapest_machine"] == "v100-32gb-sxm");
}

TEST_CASE("advise: the best settings are no slower than those near them", "[search]") {
    // Most layers keep everything, some of them on the host.
    const std::string what = "--model qwen2.5-14b --machine h200-sxm-pcie5-1.5tb --batch 32 ";
    const auto best = nlohmann::json::parse(
        run_sluice("advise --json " + what).output)["machines"][0]["advice"]["best"];
    const int kept = best["settings"]["keep_last_layers"],
              on_host = best["settings"]["host_kept_layers"];
    CHECK(on_host > 0);
    CHECK(2 * (kept + on_host) > 48);
    const auto near = nlohmann::json::parse(
        run_sluice(
            "sensitivity --json --plan given --model qwen2.5-14b --machine h200-sxm-pcie5-1.5tb " +
            best["flags"].get<std::string>())
            .output);
    CHECK(near["base"]["settings"] == "");
    const auto fixed =
        nlohmann::json::parse(run_sluice("advise --json --keep-last-layers 36 " + what)
                                  .output)["machines"][0]["advice"]["best"];
    CHECK(fixed["settings"]["keep_last_layers"] == 36);
}

TEST_CASE("advise: the best machine, and those whose bands reach into its own", "[search]") {
    const std::string near = kAdvise + "h200-sxm-pcie5 --batch 64 --seq 8192 ";
    CHECK_THAT(run_sluice(near).output,
               ContainsSubstring("its lead is smaller than the bands of: "));
    CHECK(nlohmann::json::parse(run_sluice(near + "--json").output)["best_machine_within_bands_of"]
              .size() == 1);
    const Result far = run_sluice(kAdvise + "v100-32gb-sxm --batch 256 ");
    CHECK_THAT(far.output, ContainsSubstring("best machine, the fastest: gh200-480gb\n") &&
                               !ContainsSubstring("its lead"));
}

TEST_CASE("advise: mistakes are one sentence and exit status 2", "[search]") {
    const auto mistake = [](const std::string& arguments, const std::vector<std::string>& parts) {
        check_sluice_mistake(kAdvise + arguments, parts);
    };
    mistake("--most-batch 0", {"--most-batch is \"0\"", "from 1 to 1000000"});
    mistake("--batch 8 --most-batch 4", {"--batch", "--most-batch", "give one"});
    mistake("--batch 8 --micro-batch 3", {"--batch is 8", "--micro-batch"});
    mistake("--allow-state-bytes 7", {"--allow-state-bytes is \"7\"", "8, 6, 5 or 4"});
    mistake("--knee 90", {"--knee is \"90\"", "0 to 50"});
    mistake("--price 3", {"--price is \"3\"", "NAME=DOLLARS"});
    mistake("--price gh200-480gb=x", {"--price is \"gh200-480gb=x\""});
    mistake("--max-usd-per-hour x", {"--max-usd-per-hour is \"x\""});
    mistake("--tokens-per-s x", {"--tokens-per-s is \"x\""});
    mistake("--workers 5000", {"--workers is 5000"});
    mistake("--buffer-depth 0", {"--buffer-depth"});
}

TEST_CASE("advise: where rules leave out everything, they are stated", "[search]") {
    const std::string cluster =
        "advise --model qwen2.5-7b --machine h100-sxm-pcie5 --schedule cluster --most-batch 48 ";
    const Result twelve = run_sluice(cluster + "--gpus 12");
    CHECK(twelve.status == 0);
    CHECK_THAT(twelve.output, !ContainsSubstring("nothing fits"));
    CHECK_THAT(twelve.output, ContainsSubstring("nothing was tried, since rules leave out every "
                                                "combination: ") &&
                                  ContainsSubstring("--gpus") && ContainsSubstring("12"));
    CHECK_THAT(run_sluice(cluster + "--gpus 8").output, ContainsSubstring("best "));
}

TEST_CASE("advise: the nearest says what storage lacks, and prices what they do not know",
          "[search]") {
    const std::string infinity =
        "advise --model qwen2.5-7b --machine h200-pcie5-16vcpu-128gib --schedule zero-infinity "
        "--set storage.capacity_gb=50 --batch 8 ";
    CHECK_THAT(run_sluice(infinity).output,
               ContainsSubstring("no settings fit; nearest are") && ContainsSubstring("storage "));
    std::string priced = run_sluice(kAdvise + "--most-batch 2 --host-memory 2TB").output;
    // The line is folded at 160 characters.
    for (std::size_t at; (at = priced.find("\n  ")) != std::string::npos;)
        priced.replace(at, priced.find_first_not_of(" \n", at) - at, " ");
    CHECK_THAT(priced, ContainsSubstring("the extra price of 2.00 TB of host memory over 480.0 GB "
                                         "is not known"));
}

TEST_CASE("advise: shows what options that change numbers gain, and never chooses them",
          "[search]") {
    const auto shown = [](const std::string& flags) {
        const auto advice = nlohmann::json::parse(
            run_sluice("advise --json --model qwen2.5-7b --layers 4 --batch 8 " + flags)
                .output)["machines"][0]["advice"];
        std::map<std::string, double> gains;
        for (const auto& one : advice["neighbours"])
            if (one["instead"] == "fp8" || one["option"] == "kept_bits")
                gains[one["option"]] = one["tokens_per_s_change_share"];
        const bool given = flags.find("--compute fp8") != std::string::npos;
        CHECK(advice["best"]["settings"].value("compute", "bf16") == (given ? "fp8" : "bf16"));
        return gains;
    };
    const auto of_fp8 = shown("--machine h200-sxm-pcie5");
    REQUIRE(of_fp8.size() == 1);
    CHECK(of_fp8.at("compute") > 0.1);
    CHECK(shown("--machine h200-sxm-pcie5 --compute bf16").empty());
    CHECK(shown("--machine a100-80gb-sxm").empty());
    const auto with_fp8 = shown("--machine h200-sxm-pcie5 --compute fp8");
    CHECK((with_fp8.contains("head_gradients") && with_fp8.contains("kept_bits")));
    CHECK(with_fp8.at("head_gradients") > 0);
}
