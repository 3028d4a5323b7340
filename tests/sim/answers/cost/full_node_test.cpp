#include "sim/answers/cost/full_node.h"

#include <nlohmann/json.hpp>

#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/scaled_machine.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("side by side: what limits the jobs of a node", "[cost]") {
    using Jobs = std::pair<double, NodePart>;
    CHECK(jobs_of_a_node({1, 8, 0.42}, 112) == Jobs(2, NodePart::host_memory));
    CHECK(jobs_of_a_node({1, 8, 0.5}, 112) == Jobs(2, NodePart::host_memory));
    CHECK(jobs_of_a_node({1, 8, 0.05, 0.3, 0.5}, 112) == Jobs(8, NodePart::gpus));
    CHECK(jobs_of_a_node({4, 8, 0.05}, 112) == Jobs(2, NodePart::gpus));
    CHECK(jobs_of_a_node({1, 8, 0.05}, 3) == Jobs(3, NodePart::cores));
    CHECK(jobs_of_a_node({1, 8, 0.6}, 112) == Jobs(1, NodePart::host_memory));
}

TEST_CASE("side by side: eight jobs share two sockets", "[cost]") {
    const MachineProfile profile = read_machine_profile("h200-sxm-pcie5");
    const MachineSpec machine = resolve_machine(profile);
    TrainingSpec training;
    training.batch = 8;
    const Prediction alone = predict(read_model("qwen2.5-7b"), machine, training);
    const CostQuery query;
    const auto together = full_node(alone, machine, machine_money(profile, machine, query), query);
    REQUIRE(together.has_value());
    CHECK(together->jobs == 8);
    // A job has about its quarter of a socket, and less than it takes of a socket alone.
    CHECK(together->of_alone > 0.2);
    CHECK(together->of_alone < 0.6);
    REQUIRE(together->paid.has_value());
    CHECK(together->paid->payment.usd_per_hour == Approx(4.975));
    CHECK(together->paid->run.usd_per_million_tokens.value ==
          Approx(4.975 / 3600 / together->tokens_per_s * 1e6));
}

TEST_CASE("side by side: a host with less memory than its node has holds fewer jobs", "[cost]") {
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5");
    profile.set("host.memory_capacity_gb", 160);
    const MachineSpec machine = resolve_machine(profile);
    TrainingSpec training;
    training.batch = 8;
    const Prediction alone = predict(read_model("qwen2.5-7b"), machine, training);
    const Fit::OfMemory& host = alone.plan.fit.host();
    REQUIRE(2 * host.peak.bytes > host.usable);
    const auto together = full_node(alone, machine, machine_money(profile, machine, {}), {});
    REQUIRE(together);
    CHECK(together->jobs == 1);
    CHECK(together->limit == NodePart::host_memory);
}

TEST_CASE("side by side: an own machine has the GPUs that it has", "[cost]") {
    const MachineProfile profile = read_machine_profile("h200-sxm-pcie5");
    const MachineSpec machine = resolve_machine(profile);
    TrainingSpec training;
    training.batch = 8;
    const Prediction alone = predict(read_model("qwen2.5-7b"), machine, training);
    CostQuery query;
    query.ownership = Ownership::own;
    const auto jobs = [&] {
        const auto all = full_node(alone, machine, machine_money(profile, machine, query), query);
        return all ? all->jobs : 0;
    };
    CHECK(jobs() == 8);
    query.gpus_paid = 2;
    CHECK(jobs() == 2);
    query.gpus_paid = 1;
    CHECK(jobs() == 0);  // it shares the machine with no other
}

TEST_CASE("side by side: shares of an own machine are of the host memory that it has", "[cost]") {
    // The node is sold with 1.536 TB and 8 GPUs.
    const std::string cost =
        "cost --model qwen2.5-7b --layers 8 --machine h100-pcie --plan given --host-memory 128GB ";
    CHECK_THAT(run_sluice(cost + "--ownership own --set host.gpus=2").output,
               ContainsSubstring("your machine has 2 GPUs and 128.0 GB of host memory, of which "
                                 "the plan takes 50% of its GPUs, 34% of its host memory") &&
                   !ContainsSubstring("a rent pays"));
    CHECK_THAT(run_sluice(cost + "--ownership own --gpus-paid 4").output,
               ContainsSubstring("your machine has 4 GPUs and 128.0 GB of host memory, of which "
                                 "the plan takes 25% of its GPUs, 34% of its host memory"));
    CHECK_THAT(run_sluice(cost).output,
               ContainsSubstring("a node has 8 GPUs and 1.54 TB of host memory"));
}

TEST_CASE("cost: a prediction shows no rent of an own machine", "[cost]") {
    const std::string predict =
        "predict --model qwen2.5-7b --layers 8 --machine h100-pcie --plan given ";
    CHECK_THAT(run_sluice(predict).output, ContainsSubstring("cost         $"));
    CHECK_THAT(run_sluice(predict + "--ownership own").output,
               ContainsSubstring("cost         electricity alone, as the machine is yours") &&
                   !ContainsSubstring("$"));
    CHECK_THAT(run_sluice(predict + "--ownership own --json").output, !ContainsSubstring("usd"));
    check_sluice_mistake(predict + "--ownership buy", {"--ownership is buy", "sluice cost"});
    check_sluice_mistake(predict + "--ownership mine", {"--ownership is \"mine\"", "own"});
}

TEST_CASE("side by side: a purchase in parts has the GPUs that are paid for", "[cost]") {
    const std::string cost =
        "cost --model qwen2.5-7b --layers 8 --machine mi300x --plan given --batch 8 ";
    const std::string bought = cost + "--ownership buy --node-usd 50000 ";
    CHECK_THAT(run_sluice(bought).output, ContainsSubstring("pays for 8 of 8 GPUs") &&
                                              ContainsSubstring("8 such jobs side by side"));
    CHECK_THAT(
        run_sluice(bought + "--gpus-paid 2").output,
        ContainsSubstring("pays for 2 of 2 GPUs") && ContainsSubstring("2 such jobs side by side"));
    // A rent of two GPUs leaves the others of the node to other jobs.
    CHECK_THAT(run_sluice(cost + "--ownership rent --gpus-paid 2").output,
               ContainsSubstring("8 such jobs side by side"));
}

TEST_CASE("side by side: a budget pays the price of the whole node", "[cost]") {
    const std::string cost =
        "cost --model qwen2.5-7b --layers 8 --machine h200-sxm-pcie5 --plan given --batch 8 "
        "--price-usd 200000 ";
    const auto of_each = [&](const std::string& flags) {
        return nlohmann::json::parse(
            run_sluice(cost + flags + "--json").output)["side_by_side"]["payment_of_each"];
    };
    CHECK(of_each("--budget-usd 30000 ")["meets"] == false);
    CHECK(of_each("--budget-usd 210000 ")["meets"] == true);
    CHECK(of_each("")["meets"].is_null());
    CHECK(of_each("")["committed_usd"].get<double>() > 200'000);
}

TEST_CASE("side by side: half of the host memory's rate", "[cost]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    const MachineSpec half = with_faster(machine, part::host_memory, 0.5);
    CHECK(half.host.dram_bandwidth == Approx(machine.host.dram_bandwidth / 2));
    const auto best = [](const HostSpec& host) { return host.adam_of(12).at(host.cores); };
    CHECK(best(half.host) == Approx(best(machine.host) / 2));
    CHECK(half.host.adam_of(12).at(1) == Approx(machine.host.adam_of(12).at(1)));
}

TEST_CASE("side by side: the program says what a token costs with and without others", "[cost]") {
    const std::string cost =
        "cost --plan given --model llama-3.1-70b --machine h200-sxm-pcie5 --batch 32 "
        "--clipping speculative ";
    const std::string text = run_sluice(cost).output;
    CHECK_THAT(text, ContainsSubstring("money    $9.02 ") &&
                         ContainsSubstring("2 such jobs side by side, limited by host memory") &&
                         ContainsSubstring("$4.51 "));
    CHECK_THAT(run_sluice(cost + "--csv").output,
               ContainsSubstring("2 jobs on a node: AWS p5e capacity block"));
    CHECK_THAT(run_sluice(cost + "--json").output, ContainsSubstring("\"side_by_side\": {"));
    // A GH200 shares its host with nobody.
    CHECK_THAT(
        run_sluice("cost --model qwen2.5-7b --machine gh200-480gb").output,
        ContainsSubstring("pays for the whole machine") && !ContainsSubstring("side by side"));
}
