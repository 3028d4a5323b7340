#include "sim/answers/cost/energy.h"

#include <nlohmann/json.hpp>

#include "sim/answers/cost/cost.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/measured_runs.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr const char* kMeasured = "h200-pcie5-16vcpu-128gib";

struct Predicted {
    MachineProfile profile;
    MachineSpec machine;
    Prediction report;
    PowerSpec power;
    StepEnergy energy;
};

Predicted predicted(const std::string& machine, std::int64_t batch,
                    const std::string& model = "qwen2.5-7b") {
    Predicted out;
    out.profile = read_machine_profile(machine);
    out.machine = resolve_machine(out.profile);
    TrainingSpec training;
    training.batch = batch;
    training.clipping = Clipping::speculative;  // with no wait for the norm
    out.report = predict(read_model(model), out.machine, training);
    out.power = power_spec(out.profile, out.machine);
    out.energy = step_energy(out.report, out.machine, out.power, 1);
    return out;
}

}  // namespace

TEST_CASE("energy: a calibrated GPU draws at least idle power and at most its limit", "[cost]") {
    for (const std::int64_t batch : {1, 8, 32}) {
        const Predicted p = predicted(kMeasured, batch);
        INFO("batch " << batch);
        REQUIRE(p.power.calibrated);
        const double watts = p.energy.gpu() / p.report.step.seconds;
        CHECK(watts > p.power.idle_w);
        CHECK(watts <= p.machine.gpu.clock.limit_w * (1 + 1e-9));
        CHECK(p.energy.copies > 0);
        CHECK(p.energy.products > p.energy.attention);
    }
    CHECK(predicted(kMeasured, 32).energy.at_limit);  // compute-bound
    CHECK(!predicted(kMeasured, 1).energy.at_limit);  // waits for the host
}

TEST_CASE("energy: a copy takes what was measured beyond idling", "[cost]") {
    Predicted p = predicted(kMeasured, 1);
    // 1.56727 J/GB at 140.485 W, of which idling takes 122.996.
    CHECK(p.power.copy_joules_per_byte * 1e9 == Approx(1.56727 * (1 - 122.996 / 140.485)));
    p.report.plan.program = {};
    p.report.step.seconds = 10;
    Operation copy;
    copy.lane = Work::host_to_device;
    copy.link_bytes = 100e9;
    p.report.plan.program.operations = {copy};
    const StepEnergy energy = step_energy(p.report, p.machine, p.power, 1);
    CHECK(energy.copies == Approx(100 * 1.56727 * (1 - 122.996 / 140.485)));
    CHECK(energy.idle == Approx(1229.96));
    CHECK(energy.gpu() == Approx(energy.copies + energy.idle));
}

TEST_CASE("energy: a product in FP8 takes as much less as it is quicker", "[cost]") {
    Predicted p = predicted(kMeasured, 1);
    p.report.step.seconds = 10;
    const auto products_of = [&](const Kernel& kernel) {
        Operation operation;
        operation.lane = Work::compute;
        operation.kernels = {0};
        p.report.plan.program = {};
        p.report.plan.program.operations = {operation};
        p.report.plan.program.kernel_lists = {{kernel}};
        return step_energy(p.report, p.machine, p.power, 1).products;
    };
    const GpuSpec& gpu = p.machine.gpu;
    const Kernel bf16 = gemm("", GemmRole::forward, 32768, 37888, 3584), fp8 = in_fp8(bf16);
    const double of_bytes = gpu.clock.joules_per_byte;
    CHECK((products_of(fp8) - of_bytes * fp8.bytes) / (products_of(bf16) - of_bytes * bf16.bytes) ==
          Approx(gpu.gemm_flops_per_s / gpu.fp8_gemm_flops_per_s));
}

TEST_CASE("energy: ten measured steps in FP8 draw what is predicted, within 5%", "[cost]") {
    const std::string folder = SLUICE_SOURCE_DIR "/validation/fp8-h200/steps/";
    const MachineProfile profile = read_machine_profile("h200-pcie5-16vcpu-128gib-2");
    const MachineSpec machine = resolve_machine(profile);
    const PowerSpec power = power_spec(profile, machine);
    const MeasuredRuns measured = read_measured_runs({folder}, {});
    CHECK(measured.runs.size() == 10);
    int below_limit = 0;
    for (const MeasuredRun& run : measured.runs) {
        const auto json = nlohmann::json::parse(read_text_file(run.file));
        const Prediction report = predict(run.model, machine, run.training);
        const StepEnergy energy = step_energy(report, machine, power, 1);
        INFO(run.name);
        CHECK(energy.gpu() == Approx(json["measured_gpu_j"].get<double>()).epsilon(0.05));
        below_limit += energy.at_limit ? 0 : 1;
    }
    CHECK(below_limit == 1);  // one waits for the optimizer
}

TEST_CASE("energy: from a datasheet, a ceiling over full power while it computes", "[cost]") {
    const Predicted p = predicted("h200-sxm-pcie5", 8);
    REQUIRE(!p.power.calibrated);
    CHECK(p.power.busy_w == 700);
    CHECK(*p.power.host_w == Approx((10200 - 8 * 700) / 8.0));
    const Seconds busy = p.report.step.lanes[Work::compute].busy;
    const double full = 700 * busy + p.power.idle_w * (p.report.step.seconds - busy);
    CHECK(p.energy.gpu() == Approx(std::min(1.25 * full, 700 * p.report.step.seconds)));
    CHECK(p.energy.least == Approx(full));
    CHECK(p.energy.scope == EnergyScope::ceiling);
    CHECK(p.power.assumptions.size() == 2);
    CHECK_THAT(p.power.host_assumption, ContainsSubstring("less its 8 GPUs"));
}

TEST_CASE("energy: the ceiling by a datasheet holds for the calibrated machine", "[cost]") {
    for (const std::int64_t batch : {1, 8, 32}) {
        const Predicted p = predicted(kMeasured, batch);
        PowerSpec datasheet;
        datasheet.busy_w = p.machine.gpu.clock.limit_w;
        datasheet.idle_w = p.power.idle_w;
        const StepEnergy most = step_energy(p.report, p.machine, datasheet, 1);
        INFO(batch);
        CHECK(p.energy.gpu() <= most.gpu() * (1 + 1e-9));
        CHECK(p.energy.gpu() >= most.least);
        CHECK(most.scope == EnergyScope::gpu_alone);
    }
}

TEST_CASE("energy: GPUs that are paid for and wait are counted, each within its limit", "[cost]") {
    // The plan needs more of the node than its GPU; the H200 NVL's limit is 600 W.
    const Predicted p = predicted("h200-nvl-pcie5", 8);
    const StepEnergy four = step_energy(p.report, p.machine, p.power, 4);
    CHECK(four.gpus == 4);
    CHECK(four.gpu() / p.report.step.seconds ==
          Approx(p.energy.gpu() / p.report.step.seconds + 3 * p.power.idle_w));
    CHECK(p.energy.gpu() / p.report.step.seconds <= 600);
}

TEST_CASE("energy: every machine with some power gives a power between idle and all of it",
          "[cost]") {
    int known = 0;
    for (const std::string& id : library_machines()) {
        INFO(id);
        try {
            const Predicted p = predicted(id, 8, "llama-3.2-1b");
            if (!p.power.known()) continue;
            ++known;
            const double watts = p.energy.total() / p.report.step.seconds;
            CHECK(watts > p.power.idle_w);
            CHECK(watts <= std::max(p.power.busy_w, p.machine.gpu.clock.limit_w) * (1 + 1e-9) +
                               p.power.host_w.value_or(0));
            CHECK((!p.power.assumptions.empty() || !p.power.host_assumption.empty()));
        } catch (const InputError&) {
            continue;  // the profile lacks a number that nothing replaces; its message is tested
        }
    }
    CHECK(known >= 15);
}

TEST_CASE("cost: the program says dollars, days and kWh with their bands", "[cost]") {
    const Result result = run_sluice("cost --model qwen2.5-7b --machine h200-sxm-pcie5-1tb");
    CHECK(result.status == 0);
    for (const char* part :
         {"a million tokens, at $39.80 an hour\n         pays for 8 of 8 GPUs", "1.00 B tokens: $",
          "AWS p5e capacity block, rented, 2026-05-25, the lower median of 6 rents from $3.50 to "
          "$13.78",
          "(5 to 95%: $", " kWh at full power (spread of time and power: ", " W at full power\n",
          "not measured", "tokens/s a watt", "Nebius on-demand", "give --node-usd"})
        CHECK_THAT(result.output, ContainsSubstring(part));
    CHECK_THAT(run_sluice("cost --model qwen2.5-7b --machine h200-sxm-pcie5-1tb --json").output,
               ContainsSubstring("\"usd_per_million_tokens\""));
}

TEST_CASE("cost: nothing is met that does not fit, and the program says what fits", "[cost]") {
    const std::string cost =
        "cost --model qwen2.5-32b --machine rtx-4090 --batch 8 --seq 512 --tokens 1M --days 300 "
        "--plan given ";
    CHECK_THAT(run_sluice(cost).output, ContainsSubstring("DOES NOT FIT: ") &&
                                            ContainsSubstring("\n  fits with --") &&
                                            !ContainsSubstring("limits   "));
    const auto json = nlohmann::json::parse(run_sluice(cost + "--json").output);
    CHECK(json["fits"] == false);
    CHECK(json["limits"]["meets"] == false);
    CHECK(json["other_payments"][0]["meets"].is_null());
    CHECK_THAT(run_sluice(cost + "--csv").output, !ContainsSubstring("true"));
}

TEST_CASE("cost: the program says whether deadline and budget are met", "[cost]") {
    const std::string cost = "cost --model qwen2.5-7b --machine h200-sxm-pcie5-1tb --tokens 1B ";
    CHECK_THAT(run_sluice(cost).output, !ContainsSubstring("limits"));
    CHECK_THAT(run_sluice(cost + "--days 30 --budget-usd 1e6").output,
               ContainsSubstring("limits   It meets the deadline and the budget.\n"));
    CHECK_THAT(
        run_sluice(cost + "--days 0.5 --budget-usd 1").output,
        ContainsSubstring("limits   It ends ") && ContainsSubstring(" more than the budget.\n"));
    const auto json = [&](const char* flags) {
        return nlohmann::json::parse(run_sluice(cost + flags + " --json").output);
    };
    const nlohmann::json with = json("--days 0.5"), without = json("");
    CHECK(with["limits"]["meets"] == false);
    CHECK(without["limits"]["meets"].is_null());
    CHECK(without["other_payments"][0]["meets"].is_null());
    for (const nlohmann::json* one : {&with, &without}) CHECK(!(*one)["payment"].contains("meets"));
    const auto head = [&](const char* flags) {
        const std::string csv = run_sluice(cost + flags + " --csv").output;
        return csv.substr(0, csv.find('\n'));
    };
    CHECK(head("") == head("--days 0.5"));
}

TEST_CASE("cost: a purchase meets a budget if its price does", "[cost]") {
    const std::string cost =
        "cost --model qwen2.5-7b --layers 4 --machine b200-sxm --plan given --budget-usd ";
    CHECK_THAT(run_sluice(cost + "25000").output,
               ContainsSubstring("exceeds the budget of $25,000"));
    std::size_t rents = 0, of_years = 0;
    const auto answer = nlohmann::json::parse(run_sluice(cost + "25000 --json").output);
    for (const auto& one : answer["other_payments"]) {
        const bool for_years = one["name"] == "bought" || one["name"] == "three-year contract";
        INFO(one.dump());
        CHECK(one["meets"] == !for_years);
        ++(for_years ? of_years : rents);
    }
    CHECK(rents > 0);
    CHECK(of_years == 2);
    CHECK_THAT(run_sluice(cost + "1e6").output, !ContainsSubstring("exceeds the budget"));
}

TEST_CASE("cost: mistakes are one sentence", "[cost]") {
    const std::string cost = "cost --model qwen2.5-7b --machine h200-sxm-pcie5-1tb ";
    check_sluice_mistake(cost + "--tokens -1", {"--tokens is -1", "1 to 1e+18"});
    check_sluice_mistake(cost + "--utilization 2", {"--utilization is 2", "0.001 to 1"});
    check_sluice_mistake(cost + "--offer Nowhere", {"--offer is \"Nowhere\"", "Oracle list"});
    check_sluice_mistake(cost + "--buy --usd-per-hour 2", {"two ways to pay; give one"});
    check_sluice_mistake(cost + "--ownership lease",
                         {"--ownership is \"lease\", expected any or rent or buy or own"});
    check_sluice_mistake(cost + "--ownership own --offer Oracle",
                         {"--offer and --ownership own are two ways to pay; give one"});
}

TEST_CASE("cost: what the host draws is of each GPU, and is stated", "[cost]") {
    const std::string eight =
        "cost --model qwen2.5-7b --machine h100-sxm-pcie5 --schedule cluster --gpus 8 --batch 8 ";
    CHECK_THAT(run_sluice(eight + "--host-watts 300").output,
               ContainsSubstring(
                   "300 W of host power for each GPU, as given; counted for each of the 8 GPUs, "
                   "2400 W in all"));
    const Result given = run_sluice(
        "cost --model qwen2.5-7b --machine h200-sxm-pcie5 --gpus-paid 1 --host-watts 300");
    CHECK_THAT(given.output, ContainsSubstring("300 W of host power for each GPU, as given\n"));
    CHECK_THAT(given.output, !ContainsSubstring("the largest power of a node"));
    check_sluice_mistake("cost --model qwen2.5-7b --machine h200-sxm-pcie5 --gpus-paid 9",
                         {"--gpus-paid is 9, expected at most 8"});
}

TEST_CASE("cost: no assumption is lost for a word in it", "[cost]") {
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5");
    const MachineSpec machine = resolve_machine(profile);
    CostQuery query;
    const std::vector<std::string> without =
        machine_money(profile, machine, query).power.assumptions;
    query.host_w = 300;
    CHECK(machine_money(profile, machine, query).power.assumptions == without);
    // Copies of a calibrated machine whose energy is not known go from host to device.
    profile = read_machine_profile(kMeasured);
    std::erase_if(profile.quantities,
                  [](const Quantity& q) { return q.path == "power.copy_joules_per_gb"; });
    CHECK_THAT(machine_money(profile, resolve_machine(profile), query).power.assumptions.front(),
               ContainsSubstring("copies"));
}

TEST_CASE("cost: a rent pays for the share of the node", "[cost]") {
    const Result rented = run_sluice("cost --model qwen2.5-7b --machine h200-sxm-pcie5");
    CHECK_THAT(rented.output, ContainsSubstring("a node has 8 GPUs and 2.05 TB of host memory"));
    const std::string gh200 = "cost --model qwen2.5-7b --machine gh200-480gb ";
    const std::string words = "the extra price of 1.00 TB of host memory over 480.0 GB is not";
    CHECK_THAT(run_sluice(gh200 + "--host-memory 1TB").output, ContainsSubstring(words));
    CHECK_THAT(run_sluice(gh200 + "--host-memory 400GB").output, !ContainsSubstring("cost more"));
    CHECK_THAT(run_sluice(gh200).output, !ContainsSubstring("cost more"));
    CHECK_THAT(
        run_sluice("cost --model qwen2.5-7b --machine h100-pcie --host-memory 2TB").output,
        ContainsSubstring("the extra price of 2.00 TB of host memory over 1.54 TB is not known"));
    const Result predicted =
        run_sluice("predict --model qwen2.5-7b --machine gh200-480gb --host-memory 1TB");
    CHECK_THAT(predicted.output, ContainsSubstring(words));
    CHECK_THAT(predicted.output,
               ContainsSubstring("host memory of 1.00 TB is more than the 480.0 GB that such a"));
}
