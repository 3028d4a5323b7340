// When SuperOffload's updates run, and what it keeps where, counted by hand.
#include <algorithm>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

MachineSpec gh200() { return resolve_machine(read_machine_profile("gh200-480gb")); }

TrainingSpec superoffload(std::int64_t percent, std::int64_t sub_group = 8 << 20) {
    TrainingSpec training;
    training.schedule = Schedule("superoffload");
    training.batch = 1;
    training_option("offload_percent").set(training, static_cast<double>(percent));
    training.sub_group_elements = sub_group;
    return training;
}

// Embedding and head of 32 Mi elements each, q, k, v, o of 1 Mi, gate, up, down of 4 Mi, three
// norms. Sub-groups of 8 Mi: the embedding; q to gate (8 Mi); up, down (8 Mi); norms and head.
ModelSpec small_model() {
    return parse_generic_model(
        "layers=1,hidden=1024,heads=8,kv_heads=8,head_dim=128,intermediate=4096,vocabulary=32768");
}

std::vector<std::size_t> on_lane(const StepPlan& plan, OperationKind kind, Lane lane) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < plan.program.operations.size(); ++i) {
        const Operation& operation = plan.program.operations[i];
        if (operation.kind == kind && operation.lane == lane) out.push_back(i);
    }
    return out;
}

double moved(const StepPlan& plan, OperationKind kind) {
    double bytes = 0;
    for (const Operation& operation : plan.program.operations)
        if (operation.kind == kind) bytes += operation.link_bytes + operation.host_bytes;
    return bytes;
}

/// A model whose backward fills several buckets.
StepPlan plan_7b(Clipping clipping) {
    ModelSpec model = read_model("qwen2.5-7b");
    truncate_layers(model, 8);
    TrainingSpec training = superoffload(90, 0);
    training.clipping = clipping;
    return plan_step(model, gh200(), training);
}

}  // namespace

TEST_CASE("superoffload: host and device memory by hand", "[plan]") {
    const ModelSpec model = small_model();
    const std::int64_t all = total_parameters(model);
    const StepPlan whole = plan_step(model, gh200(), superoffload(100));
    CHECK(bytes_of(whole, "bf16 parameters") == 2 * all);
    CHECK(bytes_of(whole, "shared fp32 masters") == 4 * all);
    CHECK(bytes_of(whole, "moments") == 8 * all);
    CHECK(bytes_of(whole, "shared fp32 gradients") == 4 * all);
    // 80 Mi elements and a few: in bf16 160 MiB, pinned as 256.
    CHECK(bytes_of(whole, "pinned bf16 gradients") == 256 << 20);
    CHECK(bytes_of(whole, "masters and moments of the GPU's sub-groups") == 0);
    // Half of the sub-groups: the first ones, of which the embedding is the first.
    const StepPlan half = plan_step(model, gh200(), superoffload(50));
    const Bytes states = bytes_of(half, "masters and moments of the GPU's sub-groups");
    CHECK(states >= 12LL * (40 << 20));
    CHECK(states + bytes_of(half, "shared fp32 masters") + bytes_of(half, "moments") == 12 * all);
    CHECK(bytes_of(half, "fp32 gradients of the GPU's sub-groups") == states / 3);
    CHECK(bytes_of(half, "shared fp32 gradients") == 4 * all - states / 3);
}

TEST_CASE("superoffload: bytes of a step, by hand", "[plan]") {
    const ModelSpec model = small_model();
    const auto all = static_cast<double>(total_parameters(model));
    const StepPlan plan = plan_step(model, gh200(), superoffload(100));
    // bf16 out and back for the norm, fp32 out; updated parameters in bf16 in. Weights stay there.
    CHECK(moved(plan, OperationKind::copy_gradients_out) == 6 * all);
    CHECK(moved(plan, OperationKind::copy_gradients_in) == 2 * all);
    CHECK(moved(plan, OperationKind::copy_weights_in) == 2 * all);
    // The other process copies the gradient and updates, this one scales and rounds.
    CHECK(moved(plan, OperationKind::collect_gradients) == 4 * all);
    CHECK(moved(plan, OperationKind::update) == 28 * all);
    CHECK(moved(plan, OperationKind::clip_gradients) == 4 * all);
    CHECK(moved(plan, OperationKind::copy_to_pinned) == 3 * all);
}

TEST_CASE("superoffload: with nothing offloaded no gradient leaves in fp32", "[plan]") {
    const ModelSpec model = small_model();
    const auto all = static_cast<double>(total_parameters(model));
    const StepPlan plan = plan_step(model, gh200(), superoffload(0));
    CHECK(moved(plan, OperationKind::copy_gradients_out) == 2 * all);
    CHECK(moved(plan, OperationKind::copy_weights_in) == 0);
    CHECK(on_lane(plan, OperationKind::update, Work::optimizer).empty());
    CHECK_FALSE(on_lane(plan, OperationKind::update, Work::compute).empty());
}

TEST_CASE("superoffload: sub-groups are updated while backward goes on, unless it clips",
          "[plan]") {
    for (const Clipping clipping : {Clipping::speculative, Clipping::off, Clipping::exact}) {
        const StepPlan plan = plan_7b(clipping);
        const std::size_t last =
            on_lane(plan, OperationKind::embedding_backward, Work::compute).front();
        const auto updates = on_lane(plan, OperationKind::update, Work::optimizer);
        REQUIRE(updates.size() > 2);
        CHECK((updates.front() < last) == (clipping != Clipping::exact));
        CHECK(updates.back() > last);
    }
}

TEST_CASE("superoffload: backward waits for the bucket before, the tail for all updates",
          "[plan]") {
    const StepPlan plan = plan_7b(Clipping::off);
    const auto waits_for = [&](std::size_t operation, std::size_t on) {
        const auto& waits = plan.program.operations[operation].waits_for;
        return std::any_of(waits.begin(), waits.end(), [on](const Dependency& wait) {
            return wait.operation == static_cast<OperationId>(on);
        });
    };
    const auto left = on_lane(plan, OperationKind::copy_gradients_out, Work::device_to_host);
    const auto backward = on_lane(plan, OperationKind::backward, Work::compute);
    // A bucket leaves in bf16, then in fp32: the next layer waits for the second.
    const auto next = std::upper_bound(backward.begin(), backward.end(), left[1]);
    REQUIRE(next != backward.end());
    CHECK(waits_for(*next, left[1]));
    const auto scales = on_lane(plan, OperationKind::clip_gradients, Work::host);
    const auto updates = on_lane(plan, OperationKind::update, Work::optimizer);
    CHECK(scales.size() == updates.size());
    CHECK(waits_for(scales.front(), updates.back()));
    // The next step starts with parameters that are all there.
    const auto copies = on_lane(plan, OperationKind::copy_weights_in, Work::host_to_device);
    const std::size_t first = on_lane(plan, OperationKind::issue, Work::python).front();
    CHECK(waits_for(first, copies.back()));
}

TEST_CASE("superoffload: the optimizer has nine tenths of the cores", "[plan]") {
    const StepPlan plan = plan_7b(Clipping::off);
    const HostSpec host = gh200().host;
    const auto share = [&](double threads) {
        return std::min(1.0, host.adam_bytes_per_s.at(threads) /
                                 host.adam_bytes_per_s.at(host.best_adam_threads));
    };
    for (const Operation& operation : plan.program.operations) {
        // 72 cores: 7 stay with the training process.
        if (operation.lane.work == Work::optimizer) CHECK(operation.host_share == share(65));
        if (operation.lane.work == Work::host) CHECK(operation.host_share == share(7));
    }
}
