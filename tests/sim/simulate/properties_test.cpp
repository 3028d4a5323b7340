// Rules for any numbers: more of a resource never slows a step, shares stay below one, times add
// up.
#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/memory_timeline.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Prediction step(const std::string& model, const std::string& machine, std::int64_t batch,
                const std::vector<std::pair<std::string, double>>& settings = {}) {
    MachineProfile profile = read_machine_profile(machine);
    for (const auto& [path, factor] : settings) {
        const Quantity* quantity = profile.find(path);
        REQUIRE(quantity != nullptr);
        profile.set(path, *quantity->value * factor);
    }
    TrainingSpec training;
    training.batch = batch;
    return predict(read_model(model), resolve_machine(profile), training);
}

}  // namespace

TEST_CASE("properties: more of a resource never predicts a slower step", "[simulate]") {
    using Settings = std::vector<std::pair<std::string, double>>;
    const Settings upgrades[] = {
        {{"gpu.bf16_achieved_gemm_tflops", 1.3}},
        {{"gpu.memory_bandwidth_achieved_gb_per_s", 1.3}},
        {{"link.host_to_device_gb_per_s", 1.3}},
        {{"link.device_to_host_gb_per_s", 1.3}},
        {{"link.both_ways_host_to_device_gb_per_s", 1.3}},
        {{"host.memory_bandwidth_gb_per_s", 1.3}},
        {{"host.cores", 1.5}},
    };
    for (const std::int64_t batch : {1, 8, 32}) {
        const Seconds before = step("qwen2.5-14b", "h200-sxm-pcie5", batch).step.seconds;
        for (const Settings& upgrade : upgrades) {
            INFO(upgrade.front().first << ", batch " << batch);
            CHECK(step("qwen2.5-14b", "h200-sxm-pcie5", batch, upgrade).step.seconds <=
                  before * 1.001);
        }
    }
}

TEST_CASE("properties: on every machine shares are at most one and times add up", "[simulate]") {
    for (const std::string& machine : library_machines()) {
        Prediction report;
        try {
            report = step("llama-3.1-8b", machine, 8);
        } catch (const InputError&) {
            continue;  // the profile lacks a number that nothing replaces; its message is tested
        }
        INFO(machine);
        CHECK(report.step.seconds > 0);
        CHECK(report.tokens_per_s() == Approx(8 * 1024 / report.step.seconds));
        for (const Utilization& used : report.step.utilization) {
            INFO(resource_name(used.resource) << " " << used.share);
            CHECK(used.share >= 0);
            CHECK(used.share <= 1 + 1e-6);
        }
        const LaneTime& compute = report.step.lanes[Work::compute];
        Seconds exposed = 0;
        for (const LaneTime& lane : report.step.lanes) exposed += lane.exposed;
        CHECK(compute.busy + exposed == Approx(report.step.seconds).epsilon(1e-6));
    }
}

TEST_CASE("properties: a larger batch trains more tokens a second", "[simulate]") {
    double before = 0;
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
        const double now = step("qwen2.5-7b", "gh200-480gb", batch).tokens_per_s();
        CHECK(now > before);
        before = now;
    }
}

TEST_CASE("memory over a step: its most is the plan's peak, of the streamed schedule",
          "[simulate]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb"));
    for (const std::int64_t micro_batch : {0, 2}) {
        for (const Recompute recompute : {Recompute::full, Recompute::none}) {
            CAPTURE(micro_batch, static_cast<int>(recompute));
            TrainingSpec training;
            training.batch = 8;
            training.sequence = 1024;
            training.micro_batch = micro_batch;
            training.recompute = recompute;
            const TimedPlan report = predict(read_model("qwen2.5-7b"), machine, training);
            const std::vector<MemoryMoment> moments = memory_over_step(report, Tier::device);
            CHECK(memory_changes(report, Tier::device));
            const MemoryMoment& most = most_memory(moments);
            const Peak& peak = report.plan.fit.device().peak;
            CHECK(most.bytes == peak.bytes);
            CHECK(most.by_kind == peak.by_kind);
            for (const MemoryMoment& moment : moments) {
                Bytes sum = 0;
                for (const Bytes bytes : moment.by_kind) sum += bytes;
                REQUIRE(sum == moment.bytes);
            }
        }
    }
}
