// Which ways are proposed for a run?
#include "sim/answers/search/run_question.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/answers/search/ways_on_machine.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;

namespace {

RunWay way(const std::string& machine, double days, double usd) {
    RunWay out;
    auto answer = std::make_shared<ScenarioAnswer>();
    answer->planned.machine.machine = machine;
    out.answer = answer;
    out.run.days.value = days;
    out.run.usd.value = out.run.spent.value = usd;
    out.run.tokens = 1e9;
    out.priced = true;
    return out;
}

std::vector<std::string> names(const RunQuestion& question, const std::vector<RunWay>& ways) {
    std::vector<std::string> out;
    for (const RunPick& pick : pick_ways(question, ways))
        out.push_back(ways[pick.candidate].machine());
    return out;
}

}  // namespace

TEST_CASE("run question: amounts are read as people write them", "[search]") {
    CHECK(parse_amount("2B") == 2e9);
    CHECK(parse_amount("1.5 T") == 1.5e12);
    CHECK(parse_amount("500m") == 5e8);
    CHECK(parse_amount("2,000,000") == 2e6);
    CHECK(parse_amount("2e9") == 2e9);
    CHECK(parse_amount("$20,000") == 20000.0);
    for (const char* wrong : {"", "B", "many", "-2B", "0", "2BB", "3,5", "1,5B", "20,0000"})
        CHECK(!parse_amount(wrong));
}

TEST_CASE("run question: cheapest, fastest and another machine within deadline and budget",
          "[search]") {
    const std::vector<RunWay> ways = {way("slow", 40, 100), way("cheap", 20, 200),
                                      way("other", 25, 300), way("fast", 5, 400),
                                      way("dear", 2, 900)};
    RunQuestion question;
    question.limits.days = 30;
    question.limits.usd = 500;
    CHECK(names(question, ways) == std::vector<std::string>{"cheap", "fast", "other"});
}

TEST_CASE("run question: with a budget, the cheapest purchase within it is named", "[search]") {
    const auto bought = [](const std::string& machine, double days, double usd) {
        RunWay out = way(machine, days, usd);
        auto answer = std::make_shared<ScenarioAnswer>();
        answer->planned.machine.machine = machine;
        answer->cost.payment.emplace().ownership = Ownership::buy;
        out.answer = answer;
        out.run.usd_at_once = usd - 10;
        return out;
    };
    std::vector<RunWay> ways = {way("rented", 10, 100), bought("late", 40, 3000),
                                bought("dear", 5, 9000), bought("small", 20, 4000),
                                bought("dearer", 10, 30000)};
    rank(ways);
    RunQuestion question;
    question.limits.days = 30;
    CHECK_THAT(ways_summary(question, ways), !ContainsSubstring("purchase"));
    question.limits.usd = 10'000;
    CHECK_THAT(ways_summary(question, ways),
               ContainsSubstring("The cheapest purchase that meets the deadline and the budget: "
                                 "small, 20 days, $4,000, of which $3,990 buy it"));
    // With the most tokens, the one that trains them, though it costs more.
    RunQuestion most = question;
    most.most_tokens = true;
    std::vector<RunWay> ranked = ways;
    for (RunWay& one : ranked) one.most_tokens = true;
    for (RunWay& one : ranked)
        if (one.machine() == "dear") one.run.tokens = 5e9;
    rank(ranked);
    CHECK_THAT(ways_summary(most, ranked),
               ContainsSubstring("The purchase with the most tokens that meets the deadline and "
                                 "the budget: dear, 5 B tokens: 5 days, $9,000"));
    question.limits.usd = 3500;
    CHECK_THAT(ways_summary(question, ways),
               ContainsSubstring("No machine whose purchase price is known meets the deadline and "
                                 "the budget if it is bought."));
}

TEST_CASE("run question: with the most tokens, those that train the most", "[search]") {
    const auto most = [](const std::string& machine, double tokens) {
        RunWay out = way(machine, 10, 100);
        out.run.tokens = tokens;
        out.most_tokens = true;
        return out;
    };
    std::vector<RunWay> ways = {most("few", 1e9), most("none", 0), most("many", 5e9),
                                most("most", 6e9)};
    RunQuestion question;
    question.model = "qwen2.5-7b";
    question.most_tokens = true;
    question.limits.usd = 500;
    CHECK(names(question, ways) == std::vector<std::string>{"most", "many", "few"});
    CHECK(pick_ways(question, ways)[0].why == "It trains the most tokens that the budget allows.");
    rank(ways);
    CHECK(ways.front().machine() == "most");
    CHECK(time_and_money(ways.front()) == "6 B tokens: 10 days, $100.00");
    question.limits.usd.reset();
    CHECK_THROWS_WITH(all_ways(question),
                      ContainsSubstring("--tokens is most, but neither --days nor --budget"));
}

TEST_CASE("run question: with the most tokens, each way once, and no run without an end",
          "[search]") {
    RunQuestion question;
    question.model = "llama-3.2-1b";
    question.most_tokens = true;
    question.limits.usd = 5000;
    for (const char* machine : {"h200-sxm-pcie5"}) {
        CAPTURE(machine);
        std::vector<PlannedScenario> told;
        ways_on_machine(question, run_scenario(question), {machine, {}, {}},
                        [&](const RunWay& one) {
                            CHECK(std::isfinite(one.run.tokens));
                            CHECK(std::ranges::count(told, one.answer->planned) == 0);
                            told.push_back(one.answer->planned);
                        });
        CHECK(!told.empty());
    }
}

TEST_CASE("run question: an owned machine without a plan is told", "[search]") {
    RunQuestion question;
    question.model = "llama-3.2-1b";
    question.owned = "gh200-480gb";
    CHECK_THAT(ways_summary(question, {}),
               ContainsSubstring("Your machine gh200-480gb has no plan: "));
    question.owned.clear();
    CHECK_THAT(ways_summary(question, {}), !ContainsSubstring("Your machine"));
}

TEST_CASE("run question: what is bought counts with its whole price", "[search]") {
    RunWay bought = way("small", 10, 0.72);
    bought.run.usd_at_once = 4699;
    bought.run.spent.value = 4699.1;
    const std::vector<RunWay> ways = {bought, way("rented", 10, 20)};
    RunQuestion question;
    question.limits.usd = 3;
    CHECK(!meets(question, bought));
    CHECK(names(question, ways).front() == "rented");
    CHECK(time_and_money(bought) ==
          "10 days, $4,699, of which $4,699 buy it; this run's part is $0.72");
}

TEST_CASE("run question: what is cheapest and fastest is proposed once", "[search]") {
    const std::vector<RunWay> ways = {way("best", 1, 100), way("slower", 2, 200),
                                      way("slowest", 3, 300)};
    CHECK(names({}, ways) == std::vector<std::string>{"best", "slower", "slowest"});
    CHECK(pick_ways({}, ways)[0].why == "It costs the least and is the fastest.");
    CHECK(pick_ways({}, ways)[1].why == "It is the next cheapest on another machine.");
}

TEST_CASE("run question: where none meets both, the nearest and what one limit allows",
          "[search]") {
    const std::vector<RunWay> ways = {way("late", 60, 100), way("dear", 20, 3000),
                                      way("between", 40, 600)};
    RunQuestion question;
    question.limits.days = 30;
    question.limits.usd = 500;
    CHECK(names(question, ways) == std::vector<std::string>{"between", "dear", "late"});
}

TEST_CASE("run question: a reason is true beside the ways that come before", "[search]") {
    const auto reasons = [](const RunQuestion& question, const std::vector<RunWay>& ways) {
        std::vector<std::string> out;
        for (const RunPick& pick : pick_ways(question, ways)) out.push_back(pick.why);
        return out;
    };
    // The owned machine is the cheapest and the fastest.
    std::vector<RunWay> owned = {way("own", 1, 10), way("slow", 3, 50), way("fast", 2, 100)};
    owned[0].owned = true;
    CHECK(reasons({}, owned) == std::vector<std::string>{"You own it.", "It is the next cheapest.",
                                                         "It is the next fastest."});
    // No way is within the budget. No deadline is given, so no reason speaks of one.
    RunQuestion cheap;
    cheap.limits.usd = 1;
    CHECK(reasons(cheap, {way("a", 1, 10), way("b", 2, 50)}) ==
          std::vector<std::string>{"No way meets the budget; this one comes nearest.",
                                   "It is the next cheapest, however long it takes."});
}

TEST_CASE("run question: an owned machine that meets both comes first", "[search]") {
    std::vector<RunWay> ways = {way("cheap", 20, 1), way("own", 25, 300)};
    ways[1].owned = true;
    CHECK(names({}, ways) == std::vector<std::string>{"own", "cheap"});
    CHECK(pick_ways({}, ways)[0].why == "You own it.");
    ways[1].priced = false;
    CHECK(time_and_money(ways[1]) == "25 days; the power of your machine is not known");
    ways[1].priced = true;
    CHECK(time_and_money(ways[1]) == "25 days, $300.00 for electricity");
    ways[1].run.kwh_scope = EnergyScope::gpu_alone;
    CHECK(time_and_money(ways[1]) ==
          "25 days, $300.00 for electricity of its GPUs, without the host's");
    RunQuestion soon;
    soon.limits.days = 22;
    CHECK(names(soon, ways) == std::vector<std::string>{"cheap"});
}

TEST_CASE("run question: smaller states are proposed beside, never in place of full ones",
          "[search]") {
    std::vector<RunWay> ways = {way("small", 20, 100), way("cheap", 20, 200), way("fast", 5, 400)};
    auto answer = std::make_shared<ScenarioAnswer>(*ways[0].answer);
    answer->prediction.asked.training.state_bytes = 6;
    ways[0].answer = answer;
    CHECK(names({}, ways) == std::vector<std::string>{"cheap", "fast", "small"});
    ways.erase(ways.begin() + 1, ways.end());
    CHECK(names({}, ways) == std::vector<std::string>{"small"});
}

TEST_CASE("choose: the command proposes a machine and alternatives, and says why", "[search]") {
    using namespace sluice::test;
    const TemporaryFolder folder;
    // Quotes count for a machine without a price of its own, too; both are the cheapest by far.
    const std::string quotes = folder.write("bids.csv",
                                            "machine,provider,date,gpus,usd_per_hour\n"
                                            "gh200-480gb,Acme,2026-11-02,1,0.02\n"
                                            "gh200-144gb-hbm3e,Bidder,2026-11-03,1,0.03\n");
    const Result text = run_sluice(
        "choose --model llama-3.2-1b --tokens 1B --days 30 --budget 20000 --compute fp8 --quotes " +
        quotes);
    CHECK(text.status == 0);
    CHECK_THAT(text.output, ContainsSubstring("fine-tuning on 1 B tokens in 30 days for at "
                                              "most $20,000") &&
                                ContainsSubstring("clusters have at most 64 nodes.\n") &&
                                ContainsSubstring("\n1. gh200-480gb: ") &&
                                ContainsSubstring("\n3. ") &&
                                ContainsSubstring("It costs the least") &&
                                ContainsSubstring("(Acme, quoted, 2026-11-02") &&
                                ContainsSubstring("(Bidder, quoted, 2026-11-03") &&
                                ContainsSubstring("./dev run sluice cost --model llama-3.2-1b") &&
                                ContainsSubstring(" --compute fp8 ") &&
                                ContainsSubstring(" --quotes " + quotes));
    check_sluice_mistake("choose --model qwen2.5-7b --days soon", {"--days is \"soon\"", "30"});
    check_sluice_mistake("choose --model qwen2.5-7b --task lora", {"--task is \"lora\""});
    check_sluice_mistake("choose --model nothing-like-it", {"nothing-like-it"});
    check_sluice_mistake("choose --model qwen2.5-7b --compute int4",
                         {"--compute is \"int4\", expected bf16 or fp8"});
    check_sluice_mistake("choose --model qwen2.5-7b --quotes /nowhere.csv",
                         {"/nowhere.csv: no such file"});
    for (const auto& [flag, wrong, expected] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"--days", "0", "a number of days such as 30"},
             {"--budget", "-5", "a number of dollars such as 20000"},
             {"--tokens", "many", "a number of tokens such as 2B"},
             {"--tokens", "2", "at least 524,288, the tokens of a step; 2B is two billion"},
             {"--seq", "4096.5", "a whole number of tokens such as 4096"}})
        check_sluice_mistake("choose --model qwen2.5-7b " + flag + " " + wrong,
                             {flag + " is \"" + wrong + "\", expected " + expected});
    check_sluice_mistake("choose --model qwen2.5-7b --owned 8xh200",
                         {"--owned: unknown machine \"8xh200\""});
}

TEST_CASE("choose: predict tells the speed of a proposed way, and further nodes are rented",
          "[search]") {
    using namespace sluice::test;
    // One owned node takes 0.028 days.
    const Result json = shell(kSluice +
                              "choose --model llama-3.2-1b --tokens 1B --days 0.02 --owned "
                              "h200-sxm-pcie5 --json 2>/dev/null");
    const auto answer = nlohmann::json::parse(json.output);
    const auto way_named = [&](const std::string& name) {
        const auto one = std::ranges::find_if(answer["ways"],
                                              [&](const auto& way) { return way["way"] == name; });
        REQUIRE(one != answer["ways"].end());
        return *one;
    };
    CHECK(way_named("8 x h200-sxm-pcie5")["owned"] == true);
    CHECK(way_named("16 x h200-sxm-pcie5")["owned"] == false);
    REQUIRE(answer["picks"].size() >= 2);
    CHECK(way_named(answer["picks"][0]["way"])["owned"] == false);
    for (const auto& pick : answer["picks"]) {
        CHECK(pick["commands"].size() == 2);
        const std::string command = pick["commands"][0];
        const std::string before = "./dev ";
        REQUIRE(command.starts_with(before));
        const Result told = run_sluice(command.substr(before.size()) + " --json");
        const auto tokens_per_s = nlohmann::json::parse(told.output)["tokens_per_s"];
        CHECK(std::ranges::any_of(answer["ways"], [&](const auto& way) {
            return way["way"] == pick["way"] && way["tokens_per_s"] == tokens_per_s;
        }));
    }
}

TEST_CASE("choose: an owned machine that meets the deadline comes before rented ones", "[search]") {
    RunQuestion question;
    question.model = "llama-3.2-1b";
    question.tokens = 1e9;
    question.limits.days = 0.2;
    question.owned = "h200-sxm-pcie5";
    std::vector<RunWay> ways;
    for (const PlannedMachine& machine :
         {*owned_machine(question), PlannedMachine{"h100-pcie", {}, {}}})
        ways_on_machine(question, run_scenario(question), machine,
                        [&](RunWay one) { ways.push_back(std::move(one)); });
    rank(ways);
    const std::vector<RunPick> picks = pick_ways(question, ways);
    REQUIRE(picks.size() >= 2);
    CHECK(ways[picks[0].candidate].owned);
}

TEST_CASE("choose: what the owned machine lacks is told", "[search]") {
    using namespace sluice::test;
    const Result text = shell(
        kSluice +
        "choose --model deepseek-v3 --tokens 1B --seq 4096 --owned gh200-480gb --json 2>/dev/null");
    CHECK(text.status == 0);
    const auto answer = nlohmann::json::parse(text.output);
    const std::string summary = answer["summary"];
    CHECK_THAT(summary, ContainsSubstring("Tried with one GPU alone, since ") &&
                            ContainsSubstring("Left out, since "));
    // It needs memory that the machine lacks, and the first sentence says how much.
    const std::string misfit = answer["do_not_fit"][0];
    CHECK(misfit.starts_with("your machine gh200-480gb with "));
    CHECK_THAT(misfit, ContainsSubstring(" (short "));
    // Sixteen nodes hold it.
    CHECK(answer["picks"][0]["way"] == "128 x b300-sxm");
}

TEST_CASE("run question: an owned machine has the GPUs and the memory that are owned", "[search]") {
    RunQuestion question;
    CHECK(!owned_machine(question));
    question.owned = "h100-pcie";
    CHECK(owned_machine(question) == PlannedMachine{"h100-pcie", {}, {}});
    question.owned_gpus = 8;  // as the library's node
    CHECK(owned_machine(question) == PlannedMachine{"h100-pcie", {}, {}});
    question.owned_gpus = 2;
    question.owned_memory = "512GB";
    const PlannedMachine owned{"h100-pcie", "512GB", {"host.gpus=2"}};
    CHECK(owned_machine(question) == owned);
    const std::vector<PlannedMachine> tried = tried_machines(question);
    CHECK(tried.front() == owned);
    CHECK(std::ranges::count(tried, PlannedMachine{"h100-pcie", {}, {}}) ==
          1);  // it is rented, too
    question.owned = "h200-sxm-pcie5";
    question.owned_gpus = 16;
    CHECK(owned_machine(question) == PlannedMachine{"h200-sxm-pcie5", "512GB", {}});
    question.owned_gpus = 12;
    CHECK_THROWS_WITH(owned_machine(question),
                      ContainsSubstring("--owned-gpus is 12, expected at most the 8 GPUs"));
}

TEST_CASE("choose: two owned GPUs are asked, and draw the power of two", "[search]") {
    using namespace sluice::test;
    RunQuestion question;
    question.model = "llama-3.2-1b";
    question.tokens = 1e8;
    question.owned = "h100-pcie";
    const auto usd_of_one_gpu = [&] {
        double usd = 0;
        ways_on_machine(question, run_scenario(question), *owned_machine(question),
                        [&](const RunWay& way) {
                            if (way.owned && way.answer->prediction.asked.training.gpus == 1)
                                usd = way.run.usd.value;
                        });
        REQUIRE(usd > 0);
        return usd;
    };
    const double of_eight = usd_of_one_gpu();
    question.owned_gpus = 2;
    question.owned_memory = "512GB";
    CHECK(usd_of_one_gpu() < 0.6 * of_eight);
    check_sluice_mistake("choose --model llama-3.2-1b --owned h100-pcie --owned-gpus two",
                         {"--owned-gpus is \"two\", expected a whole number of GPUs"});
    check_sluice_mistake("choose --model llama-3.2-1b --owned-gpus 2",
                         {"--owned-gpus is given without --owned"});
}

TEST_CASE("zero3-offload: all GPUs share one host", "[search]") {
    using namespace sluice::test;
    check_sluice_mistake(
        "predict --model qwen2.5-7b --machine h200-sxm-pcie5 --schedule zero3-offload --gpus 16 "
        "--batch 16",
        {"--gpus is 16, expected at most the 8 of a node of h200-sxm-pcie5"});
}
