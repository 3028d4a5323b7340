// Steps of a cluster: collectives take the time of their formula, also during compute.
#include "sim/answers/predict/predict.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/collective_time.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

MachineSpec h100() { return resolve_machine(read_machine_profile("h100-sxm-pcie5")); }

Prediction predict_cluster(std::int64_t gpus, std::int64_t batch, const MachineSpec& machine,
                           Sharding sharding = Sharding::full) {
    ModelSpec model = read_model("llama-3.1-8b");
    truncate_layers(model, 4);
    TrainingSpec training;
    training.schedule = Schedule("cluster");
    training.gpus = gpus;
    training.batch = batch;
    training.own.of<ClusterOptions>().sharding = sharding;
    return predict(model, machine, training);
}

const LaneTime& interconnect(const Prediction& report) {
    return report.step.lanes[Work::interconnect];
}

}  // namespace

TEST_CASE("cluster: alone, each collective takes its formula's time", "[simulate]") {
    const Prediction report = predict_cluster(16, 16, h100());
    const std::vector<FlowDemand> demands =
        operation_demands(report.plan.program, h100(), report.asked.training);
    int collectives = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Operation& operation = report.plan.program.operations[i];
        if (operation.lane.work != Work::interconnect) continue;
        ++collectives;
        CHECK(demands[i].alone() ==
              Approx(collective_time(h100().interconnect, {16, 8}, operation.collective,
                                     operation.collective_bytes)));
        const OperationInterval& when = report.step.intervals[i];
        CHECK(when.end - when.start >= demands[i].alone() - 1e-8);
    }
    // Two gathers a layer and one of the rest, a reduction of each, the norm's.
    CHECK(collectives == 2 * 4 + 1 + 4 + 1 + 1);
}

TEST_CASE("cluster: tokens and FLOPs are of all GPUs; one GPU sends nothing", "[simulate]") {
    const Prediction one = predict_cluster(1, 8, h100()), eight = predict_cluster(8, 64, h100());
    CHECK(interconnect(one).busy < 1e-6);
    CHECK(interconnect(one).bytes == 0);
    CHECK(eight.tokens_per_s() == Approx(64 * 1024 / eight.step.seconds));
    CHECK(eight.plan.executed_flops == Approx(8 * one.plan.executed_flops));
    CHECK(eight.tokens_per_s() > 7 * one.tokens_per_s());
}

TEST_CASE("cluster: one sequence a GPU over a slow network is bound by it", "[simulate]") {
    MachineSpec slow = h100();
    slow.interconnect.network_per_gpu = 2e9;
    const Prediction report = predict_cluster(32, 32, slow);
    CHECK(report.step.bottleneck() == Work::interconnect);
    CHECK(interconnect(report).exposed > 0.5 * report.step.seconds);
    CHECK(predict_cluster(32, 32, h100()).step.seconds < report.step.seconds);
    CHECK(predict_cluster(8, 64, h100()).step.bottleneck() == Work::compute);
}

TEST_CASE("cluster: a GPU holds less the more is sharded", "[simulate]") {
    const auto device = [](Sharding sharding) {
        return predict_cluster(8, 8, h100(), sharding).plan.fit.device().peak.bytes;
    };
    CHECK(device(Sharding::full) < device(Sharding::states));
    CHECK(device(Sharding::states) < device(Sharding::none));
}
