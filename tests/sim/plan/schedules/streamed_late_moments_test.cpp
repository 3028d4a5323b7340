// Which moments wait for the next backward, with which traffic, and what waits for them? Counted by
// hand.
#include <vector>

#include "sim/base/input_error.h"
#include "sim/plan/adam_part.h"
#include "sim/plan/schedules/streamed.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/eight_layers.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr double kLateHead = 1001 * 512;  // with the final norm

/// Two of eight layers are resident.
TrainingSpec late(std::int64_t layers) {
    TrainingSpec spec;
    spec.batch = 2;
    spec.sequence = 1024;
    spec.clipping = Clipping::exact;
    spec.resident_layers = 2;
    spec.late_moment_layers = layers;
    return spec;
}

double update_traffic(const StepPlan& plan, OperationKind kind, HostWork work) {
    double bytes = 0;
    for (const Operation& op : plan.program.operations)
        if (op.kind == kind && op.host_work == work && op.layer >= 0) bytes += op.host_bytes;
    return bytes;
}

}  // namespace

TEST_CASE("late moments: their traffic moves behind that of the parameters", "[plan]") {
    using enum OperationKind;
    const StepPlan whole = eight_layer_plan(late(0)), all = eight_layer_plan(late(6)),
                   half = eight_layer_plan(late(3));
    const double host = 6 * kLayerOfEight + kLateHead;
    CHECK(update_traffic(whole, update, HostWork::adam) == 26 * host);
    CHECK(update_traffic(whole, update_moments, HostWork::adam_moments) == 0);
    CHECK(update_traffic(all, update, HostWork::adam) == 0);
    CHECK(update_traffic(all, update, HostWork::adam_parameters) == 18 * host);
    CHECK(update_traffic(all, update_moments, HostWork::adam_moments) == 18 * host);
    CHECK(update_traffic(half, update, HostWork::adam) == 26 * 3 * kLayerOfEight);
    CHECK(update_traffic(half, update_moments, HostWork::adam_moments) ==
          18 * (3 * kLayerOfEight + kLateHead));
    TrainingSpec small = late(6);
    small.state_bytes = 8;
    CHECK(update_traffic(eight_layer_plan(small), update, HostWork::adam_parameters) == 14 * host);
    CHECK(update_traffic(eight_layer_plan(small), update_moments, HostWork::adam_moments) ==
          10 * host);
}

TEST_CASE("late moments: come in the order of backward, and its gradients wait for them",
          "[plan]") {
    const StepPlan plan = eight_layer_plan(late(6));
    std::vector<int> layers;
    for (std::size_t id = 0; id < plan.program.operations.size(); ++id) {
        const Operation& op = plan.program.operations[id];
        if (op.kind != OperationKind::update_moments) continue;
        layers.push_back(op.layer);
        const OperationId out =
            find_operation(plan.program, OperationKind::copy_gradients_out, op.layer);
        bool waits = false;
        for (const Dependency& wait :
             plan.program.operations[static_cast<std::size_t>(out)].waits_for)
            waits = waits || (wait.previous_step && wait.operation == static_cast<OperationId>(id));
        CHECK(waits);
    }
    CHECK(layers == std::vector{8, 7, 6, 5, 4, 3, 2});
}

TEST_CASE("late moments: a byte that is written takes 0.6 of the time of one that is read",
          "[plan]") {
    CHECK(adam_part_rate(HostWork::adam, 12) == 1);
    // 14 bytes are read and 4 written, instead of 14 and 12: 18 bytes in the time of 16.4 that are
    // read, instead of 26 in that of 21.2.
    CHECK(adam_part_rate(HostWork::adam_parameters, 12) == Approx(0.895).epsilon(1e-3));
    CHECK(adam_part_rate(HostWork::adam_moments, 8) == Approx(0.979).epsilon(1e-3));
}

TEST_CASE("late moments: settings without them are refused by name", "[plan]") {
    TrainingSpec spec = late(1);
    spec.clipping = Clipping::speculative;
    CHECK_THROWS_WITH(
        eight_layer_plan(spec),
        ContainsSubstring("--late-moment-layers is 1 with --clipping speculative, expected 0"));
    spec = late(1);
    spec.state_bytes = 6;
    CHECK_THROWS_WITH(eight_layer_plan(spec),
                      ContainsSubstring("--late-moment-layers is 1 with "
                                        "--state-bytes 6, whose moments have"));
    spec = late(5);
    spec.visiting_layers = 2;
    CHECK_THROWS_WITH(
        eight_layer_plan(spec),
        ContainsSubstring("--late-moment-layers is 5, expected at most the 4 layers"));
}
