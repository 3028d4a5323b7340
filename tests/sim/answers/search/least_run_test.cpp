// Which budgets and deadlines are refused before a search?
#include "sim/answers/search/least_run.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/answers/search/ways_on_machine.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;

namespace {

RunQuestion question_of(const std::string& model, double tokens) {
    RunQuestion out;
    out.model = model;
    out.tokens = tokens;
    return out;
}

double cheapest(const RunQuestion& question) {
    double usd = std::numeric_limits<double>::infinity();
    for (const PlannedMachine& machine : tried_machines(question))
        for (const LeastRun& one : least_runs_on(question, machine)) usd = std::min(usd, one.usd);
    return usd;
}

}  // namespace

TEST_CASE("least run: FLOPs of a token's products, by hand", "[search]") {
    // A layer: qkv 2048 x 3072, output 2048 x 2048, three matrices of 2048 x 8192; then the head.
    const double of_layer = 6'291'456 + 4'194'304 + 50'331'648, head = 128'256.0 * 2048;
    CHECK(least_flops_per_token(read_model(PlannedModel{"llama-3.2-1b", {}, {}})) ==
          6 * (16 * of_layer + head));
    // A layer: qkv 2048 x 5120, output 4096 x 2048, router of 128, eight experts of 768.
    const double attention = 2048.0 * (5120 + 4096), experts = 8.0 * 3 * 2048 * 768;
    CHECK(least_flops_per_token(read_model(PlannedModel{"qwen3-30b-a3b", {}, {}})) ==
          6 * (48 * (attention + 2048.0 * 128 + experts) + 151'936.0 * 2048));
}

TEST_CASE("least run: days and dollars by the GPU's rate and the lowest rent", "[search]") {
    const test::TemporaryFolder folder;
    RunQuestion question = question_of("llama-3.2-1b", 1e9);
    question.quotes = folder.write("bids.csv",
                                   "machine,provider,date,gpus,usd_per_hour\n"
                                   "h200-sxm-pcie5,Acme,2026-11-02,1,3\n"
                                   "h200-sxm-pcie5,Eight,2026-11-02,8,16\n");
    const double flops =
        least_flops_per_token(read_model(PlannedModel{"llama-3.2-1b", {}, {}})) * 1e9;
    const GpuSpec gpu = read_machine({"h200-sxm-pcie5", {}, {}}).spec.gpu;
    const double hours = flops / (gpu.gemm_flops_per_s / gpu.clock.time_share) / 3600;
    const std::vector<LeastRun> least = least_runs_on(question, {"h200-sxm-pcie5", {}, {}});
    const auto rented = [&](std::int64_t gpus) {
        return *std::ranges::find_if(
            least, [&](const LeastRun& one) { return one.gpus == gpus && !one.bought; });
    };
    // One GPU of Acme costs 3 dollars; Eight rents eight at 2 dollars each.
    CHECK(rented(1).days == Approx(hours / 24).epsilon(1e-5));
    CHECK(rented(1).usd == Approx(3 * hours).epsilon(1e-5));
    CHECK(rented(8).days == Approx(hours / 8 / 24).epsilon(1e-5));
    CHECK(rented(8).usd == Approx(2 * hours).epsilon(1e-5));
    // Neither connects more. Without quotes, listed rents do; 256 GPUs get no equal parts of 128
    // sequences.
    const auto most_gpus = [](const std::vector<LeastRun>& all) {
        return std::ranges::max_element(all, {}, &LeastRun::gpus)->gpus;
    };
    CHECK(most_gpus(least) == 8);
    CHECK(most_gpus(least_runs_on(question_of("llama-3.2-1b", 1e9), {"h200-sxm-pcie5", {}, {}})) ==
          128);
    // Twice the tokens take twice as long.
    question.tokens = 2e9;
    CHECK(least_runs_on(question, {"h200-sxm-pcie5", {}, {}}).front().days ==
          Approx(2 * least.front().days));
}

TEST_CASE("least run: who owns a machine pays at least the power of its GPU", "[search]") {
    RunQuestion question = question_of("llama-3.2-1b", 1e9);
    question.owned = "rtx-4090";
    const std::vector<LeastRun> least = least_runs_on(question, *owned_machine(question));
    const GpuSpec gpu = read_machine({"rtx-4090", {}, {}}).spec.gpu;
    const double hours = least_flops_per_token(read_model(PlannedModel{"llama-3.2-1b", {}, {}})) *
                         1e9 / (gpu.gemm_flops_per_s / gpu.clock.time_share) / 3600;
    CHECK(least.front().owned);
    // 450 W, 1.54 times that with the building, at 14.6 cents a kWh.
    CHECK(least.front().usd == Approx(0.45 * hours * 1.54 * 0.146).epsilon(1e-5));
}

TEST_CASE("least run: only what no way can meet is out of reach", "[search]") {
    RunQuestion question = question_of("llama-3.1-70b", 2e9);
    CHECK(out_of_reach(question).empty());
    const double usd = cheapest(question);
    question.limits.usd = usd * 1.01;
    CHECK(out_of_reach(question).empty());
    question.limits.usd = usd * 0.99;
    const std::vector<LeastRun> least = out_of_reach(question);
    REQUIRE(!least.empty());
    CHECK(least.front().usd == usd);
    for (const LeastRun& one : least) CHECK(one.usd > *question.limits.usd);
    // The fastest way alone ends in time, the cheapest alone is within the budget.
    const auto fastest = std::ranges::min_element(least, {}, &LeastRun::days);
    question.limits.usd = usd * 1.01;
    question.limits.days = fastest->days * 1.01;
    CHECK(!out_of_reach(question).empty());
    question.limits.usd.reset();
    CHECK(out_of_reach(question).empty());
    question.limits.days = fastest->days * 0.99;
    CHECK(!out_of_reach(question).empty());
    // The most tokens are at least those of a step.
    question.most_tokens = true;
    CHECK(out_of_reach(question).empty());
    question.limits.days.reset();
    question.limits.usd = usd * 524'288 / 2e9 * 0.99;
    CHECK(!out_of_reach(question).empty());
}

TEST_CASE("least run: no predicted way ends sooner or costs less", "[search]") {
    // By formulas, by measured kernels, on memory that host and GPU share, and bought.
    const test::TemporaryFolder folder;
    const std::string quotes = folder.write("bids.csv",
                                            "machine,provider,date,gpus,usd_per_hour\n"
                                            "h100-pcie5-16vcpu-128gib,Acme,2026-11-02,1,2\n");
    for (const char* machine :
         {"h200-sxm-pcie5", "h100-pcie5-16vcpu-128gib", "gh200-480gb", "dgx-spark-gb10", "mi300x"})
        for (const char* compute : {"bf16", "fp8"}) {
            CAPTURE(machine, compute);
            RunQuestion question = question_of("llama-3.2-1b", 1e9);
            question.compute = compute;
            question.quotes = quotes;
            const std::vector<LeastRun> least = least_runs_on(question, {machine, {}, {}});
            ways_on_machine(
                question, run_scenario(question), {machine, {}, {}}, [&](const RunWay& way) {
                    if (!way.fits()) return;
                    CHECK(std::ranges::any_of(least, [&](const LeastRun& one) {
                        return one.gpus == way.gpus() && one.bought == way.is_bought() &&
                               one.days <= way.run.days.value && one.usd <= way.run.spent.value;
                    }));
                });
        }
}

TEST_CASE("choose: a hopeless budget says by how much it misses", "[search]") {
    using namespace sluice::test;
    const Result text =
        shell(kSluice + "choose --model 70B --tokens 2T --days 30 --budget 100 2>/dev/null");
    CHECK(text.status == 0);
    CHECK_THAT(text.output,
               ContainsSubstring("fine-tuning on 2 T tokens in 30 days for at most $100") &&
                   ContainsSubstring("No way can meet the deadline and the budget") &&
                   ContainsSubstring(" more than the budget)") && ContainsSubstring("$ at least"));
    const Result json =
        shell(kSluice + "choose --model 70B --tokens 2B --budget 2 --json 2>/dev/null");
    const auto answer = nlohmann::json::parse(json.output);
    CHECK(answer["picks"].empty());
    CHECK(answer["ways"].empty());
    REQUIRE(!answer["least"].empty());
    CHECK(answer["least"][0]["least_spent_usd"] > 2);
    CHECK_THAT(
        answer["summary"].get<std::string>(),
        ContainsSubstring("No way can meet the budget") && ContainsSubstring(" costs at least "));
}
