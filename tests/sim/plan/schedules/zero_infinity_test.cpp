// Storage traffic and buffers of ZeRO-Infinity, counted by hand.
#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/zero3.h"
#include "sim/plan/step_plan.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/infinity_case.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

bool waits_for(const StepPlan& plan, std::size_t operation, OperationId on) {
    const auto& waits = plan.program.operations[operation].waits_for;
    return std::any_of(waits.begin(), waits.end(),
                       [on](const Dependency& wait) { return wait.operation == on; });
}

std::vector<std::size_t> of_kind(const StepPlan& plan, OperationKind kind) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < plan.program.operations.size(); ++i)
        if (plan.program.operations[i].kind == kind) out.push_back(i);
    return out;
}

}  // namespace

TEST_CASE("zero-infinity: bytes of a step from and to storage, by hand", "[plan]") {
    const ModelSpec model = four_layers_of_7b();
    const auto parameters = static_cast<double>(total_parameters(model));
    const StepPlan plan = plan_step(model, machine_with_storage(), infinity());
    // Master, two moments and the gradient are read; all but the gradient are written again.
    CHECK(link_bytes(plan, OperationKind::read_states) == 16 * parameters);
    CHECK(link_bytes(plan, OperationKind::write_states) == 12 * parameters);
    CHECK(link_bytes(plan, OperationKind::write_gradients) == 4 * parameters);
    CHECK(link_bytes(plan, OperationKind::write_weights) == 2 * parameters);
    // Forward and backward each read every tensor at least once.
    const double read = link_bytes(plan, OperationKind::read_weights);
    CHECK(read >= 2 * (parameters - 4 * 20e3));
    CHECK(read <= 2 * 2 * parameters);
    CHECK(link_bytes(plan, OperationKind::copy_gradients_out) == 6 * parameters);
}

TEST_CASE("zero-infinity: memory by tier, by hand", "[plan]") {
    const ModelSpec model = four_layers_of_7b();
    const MachineSpec machine = machine_with_storage();
    const StepPlan plan = plan_step(model, machine, infinity());
    const std::int64_t parameters = total_parameters(model);
    const std::int64_t table = 152064LL * 3584;
    const std::int64_t layer = layer_parameters(model, model.layer(0));
    CHECK(bytes_of(plan, "masters and moments on storage") == 12 * parameters);
    CHECK(bytes_of(plan, "fp32 gradients on storage") == 4 * parameters);
    // Norms and biases are below 1 MiB and stay.
    const std::int64_t small = 2 * 3584 + (28 + 2 * 4) * 128;
    CHECK(bytes_of(plan, "bf16 parameters on storage") == 2 * (parameters - 4 * small - 3584));
    // The embedding and two layers are a sub-group; the second is two layers, norm and head.
    const Bytes largest = std::max(table + 2 * layer, 2 * layer + 3584 + table);
    CHECK(bytes_of(plan, "optimizer's buffers") == 12 * 4 * largest);
    CHECK(bytes_of(plan, "updated parameters of a sub-group") == 2 * largest);
    CHECK(bytes_of(plan, "parameter buffers") % (2 * table) == 0);
    CHECK(bytes_of(plan, "parameter buffers") >= 5 * 2 * table);
    // 4.1 GB of gradients and 2 GB of max_in_cpu, pinned in powers of two.
    CHECK(bytes_of(plan, "pinned bf16 gradients") == 1LL << 32);
    CHECK(bytes_of(plan, "pinned bf16 parameters, max_in_cpu") == 1LL << 31);
    const Fit fit = check_fit(plan, machine, infinity());
    CHECK(fit.storage().peak.bytes == 18 * parameters - 2 * (4 * small + 3584));
    CHECK(fit.fits());
}

TEST_CASE("zero-infinity: what storage does not hold does not fit", "[plan]") {
    const ModelSpec model = four_layers_of_7b();
    MachineSpec machine = machine_with_storage();
    machine.storage.capacity = 30'000'000'000;
    const Fit fit = check_fit(plan_step(model, machine, infinity()), machine, infinity());
    CHECK_FALSE(fit.fits());
    CHECK(fit.storage().shortfall() == fit.storage().peak.bytes - 30'000'000'000);
}

TEST_CASE("zero-infinity: one sub-group is read while the one before is updated", "[plan]") {
    const StepPlan plan = plan_step(four_layers_of_7b(), machine_with_storage(), infinity());
    const auto reads = of_kind(plan, OperationKind::read_states);
    const auto scales = of_kind(plan, OperationKind::clip_gradients);
    const auto weights = of_kind(plan, OperationKind::write_weights);
    const auto states = of_kind(plan, OperationKind::write_states);
    REQUIRE(reads.size() == 2);
    REQUIRE(states.size() == 2);
    // The first read waits for all gradients, the second stands before the first update.
    CHECK(
        waits_for(plan, reads[0],
                  static_cast<OperationId>(of_kind(plan, OperationKind::write_gradients).back())));
    CHECK(reads[1] < scales[0]);
    for (std::size_t group = 0; group < 2; ++group)
        CHECK(waits_for(plan, scales[group], static_cast<OperationId>(reads[group])));
    // The host waits until the bf16 parameters are written, but not for the states.
    CHECK(waits_for(plan, scales[1], static_cast<OperationId>(weights[0])));
    CHECK_FALSE(waits_for(plan, scales[1], static_cast<OperationId>(states[0])));
    // The next step reads when the last states are written.
    const auto first = of_kind(plan, OperationKind::issue).front();
    CHECK(waits_for(plan, first, static_cast<OperationId>(states[1])));
    const auto read = of_kind(plan, OperationKind::read_weights).front();
    CHECK(waits_for(plan, read, static_cast<OperationId>(first)));
}

TEST_CASE("zero-infinity: reads, copies that hold the host up and Python follow each other",
          "[plan]") {
    const StepPlan plan = plan_step(four_layers_of_7b(), machine_with_storage(), infinity());
    const auto& operations = plan.program.operations;
    OperationId held_up = -1;
    int held = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const Operation& operation = operations[i];
        if (operation.lane.work == Work::python && held_up >= 0) {
            CHECK(waits_for(plan, i, std::exchange(held_up, -1)));
            ++held;
        }
        if (operation.kind == OperationKind::copy_weights_in && operation.pageable)
            held_up = static_cast<OperationId>(i);
    }
    CHECK(held >= 2 * 4);
}

TEST_CASE("zero-infinity: the first sub-groups stay in host memory up to a billion elements",
          "[plan]") {
    const ModelSpec model = four_layers_of_7b();
    const Zero3Modules modules(model);
    const InfinityLayout layout(model, modules, 200e6);
    // The embedding's 545 M, then one layer of 233 M: the next would pass 1e9.
    CHECK(layout.sub_groups_on_host == 2);
    CHECK_FALSE(layout.on_storage.front());
    CHECK(layout.on_storage.back());
    const StepPlan plan = plan_step(model, machine_with_storage(), infinity(200'000'000));
    const auto written = of_kind(plan, OperationKind::write_weights).size();
    CHECK(written == layout.sub_groups.size() - 2);
    CHECK(of_kind(plan, OperationKind::write_states).size() == layout.sub_groups.size());
}

TEST_CASE("zero-infinity: a sub-group's states are written before the second after it is updated",
          "[plan]") {
    // Sub-groups whose parameters stay in host memory: nothing else of theirs is written.
    const ModelSpec model =
        parse_generic_model("layers=4,hidden=2048,vocabulary=20000,intermediate=8192");
    const StepPlan plan = plan_step(model, machine_with_storage(), infinity(50'000'000));
    const auto scales = of_kind(plan, OperationKind::clip_gradients);
    const auto states = of_kind(plan, OperationKind::write_states);
    REQUIRE(scales.size() > 3);
    REQUIRE(of_kind(plan, OperationKind::write_weights).empty());
    for (std::size_t group = 2; group < scales.size(); ++group) {
        CHECK(waits_for(plan, scales[group], static_cast<OperationId>(states[group - 2])));
        CHECK_FALSE(waits_for(plan, scales[group], static_cast<OperationId>(states[group - 1])));
    }
}

TEST_CASE("zero-infinity: a machine without storage is named, and how to give it", "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    REQUIRE_FALSE(machine.storage.known());
    try {
        plan_step(four_layers_of_7b(), machine, infinity());
        FAIL("no error");
    } catch (const InputError& error) {
        const std::string message = error.what();
        CHECK(message.find("h200-sxm-pcie5 has no storage") != std::string::npos);
        CHECK(message.find("--set storage.read_gb_per_s=NUMBER") != std::string::npos);
    }
}
