// Copies and buffers of `accelerate-offload`, counted by hand, and the order of its operations.
#include <algorithm>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr const char* kShape =
    "layers=4,hidden=512,heads=8,kv_heads=2,head_dim=64,intermediate=1024,vocabulary=16000";

StepPlan plan_of(Recompute recompute, const std::string& shape = kShape) {
    TrainingSpec training;
    training.schedule = Schedule("accelerate-offload");
    training.batch = 2;
    training.sequence = 256;
    training.recompute = recompute;
    return plan_step(parse_generic_model(shape),
                     resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
}

Bytes most(const StepPlan& plan, Tier tier, MemoryKind kind) {
    const Peak peak =
        peak_memory(plan.memory, tier, static_cast<OperationId>(plan.program.operations.size()));
    return peak.by_kind[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("accelerate-offload: layers arrive twice with recomputation, once without", "[plan]") {
    const ModelSpec model = parse_generic_model(kShape);
    const double all = 2.0 * static_cast<double>(total_parameters(model));
    const double layers = 2.0 * 4 * static_cast<double>(layer_parameters(model, model.kinds[0]));
    CHECK(link_bytes(plan_of(Recompute::full), Work::host_to_device) == all + layers);
    CHECK(link_bytes(plan_of(Recompute::none), Work::host_to_device) == all);
    CHECK(link_bytes(plan_of(Recompute::full), Work::device_to_host) == all);
}

TEST_CASE("accelerate-offload: a tied table is copied for the embedding and for the head",
          "[plan]") {
    const std::string tied = std::string(kShape) + ",tied=1";
    const double table = 2.0 * 512 * 16000;
    const double all =
        2.0 * static_cast<double>(total_parameters(parse_generic_model(tied))) + table;
    CHECK(link_bytes(plan_of(Recompute::none, tied), Work::host_to_device) == all);
    CHECK(link_bytes(plan_of(Recompute::none, tied), Work::device_to_host) == all);
}

TEST_CASE("accelerate-offload: all is in order; each operation waits for the one before it",
          "[plan]") {
    for (const Recompute recompute : {Recompute::full, Recompute::none}) {
        const StepPlan plan = plan_of(recompute);
        const auto& operations = plan.program.operations;
        for (std::size_t i = 1; i < operations.size(); ++i) {
            if (operations[i].kind == OperationKind::update) continue;  // after clipping, same lane
            const auto& waits = operations[i].waits_for;
            CHECK(std::any_of(waits.begin(), waits.end(), [&](const Dependency& wait) {
                return !wait.previous_step && wait.operation == static_cast<OperationId>(i) - 1;
            }));
        }
        CHECK(operations.back().kind == OperationKind::update);
        CHECK(operations.back().host_share == 0.505);  // a loop over tensors
        CHECK(operations.front().waits_for.back().previous_step);
        for (const Operation& operation : operations)
            CHECK(operation.pageable == (operation.link_bytes > 0));
    }
}

TEST_CASE(
    "accelerate-offload: the host has weights, gradients and moments in bf16; without "
    "recomputation the device has all weights",
    "[plan]") {
    const Bytes all = total_parameters(parse_generic_model(kShape));
    const StepPlan full = plan_of(Recompute::full), none = plan_of(Recompute::none);
    CHECK(most(full, Tier::host, MemoryKind::weights) == 2 * all);
    CHECK(most(full, Tier::host, MemoryKind::gradients) == 2 * all);
    CHECK(most(full, Tier::host, MemoryKind::optimizer_state) == 4 * all);
    CHECK(most(none, Tier::device, MemoryKind::weights) == 2 * all);
    CHECK(most(full, Tier::device, MemoryKind::weights) < 2 * all);
}

TEST_CASE("accelerate-offload: the plan says that the hooks alone do not train", "[plan]") {
    CHECK(plan_of(Recompute::full).note.find("do not train") != std::string::npos);
}
