// Buffers of ZeRO-3 with offload, counted by hand.
#include <algorithm>
#include <numeric>

#include "sim/plan/schedules/zero3.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr Bytes kMiBytes = 1 << 20;

StepPlan zero3_plan(const ModelSpec& model, std::int64_t batch = 1) {
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = batch;
    return plan_step(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
}

// Embedding and head of 32 M elements each, q, k, v, o of 1 M, gate, up, down of 4 M.
const char* const kOneLayer =
    "layers=1,hidden=1024,heads=8,kv_heads=8,head_dim=128,intermediate=4096,vocabulary=32768";

}  // namespace

TEST_CASE("zero3: host memory by hand, all that is pinned in powers of two", "[plan]") {
    const ModelSpec model = parse_generic_model(kOneLayer);
    const StepPlan plan = zero3_plan(model);
    const std::int64_t parameters = 2 * (32 << 20) + 4 * (1 << 20) + 3 * (4 << 20) + 3 * 1024;
    REQUIRE(total_parameters(model) == parameters);
    CHECK(bytes_of(plan, "fp32 masters and moments") == 12 * parameters);
    // 160 MiB and 6 KiB in bf16, twice that in fp32.
    CHECK(bytes_of(plan, "pinned bf16 parameters") == 256 * kMiBytes);
    CHECK(bytes_of(plan, "pinned bf16 gradients") == 256 * kMiBytes);
    CHECK(bytes_of(plan, "pinned fp32 gradients of sub-groups") == 512 * kMiBytes);
    CHECK(bytes_of(plan, "first pinned copies, kept by PyTorch") ==
          (2 * 64 + 4 * 2 + 3 * 8) * kMiBytes);
}

TEST_CASE("zero3: memory in use outside the process is not resident in it", "[plan]") {
    const StepPlan plan = zero3_plan(parse_generic_model(kOneLayer));
    const auto count = static_cast<OperationId>(plan.program.operations.size());
    const Bytes tables = bytes_of(plan, "tables of pinned pages");
    CHECK(tables > 10 * kMiBytes);
    CHECK(std::abs(peak_memory(plan.memory, Tier::host, count).bytes -
                   plan.memory.host_between_steps - tables) <= 1);
}

TEST_CASE("zero3: sub-groups end with the tensor that completes a billion elements", "[plan]") {
    ModelSpec model = read_model("qwen2.5-7b");
    model.tied_embeddings = false;
    const std::vector<double> groups = zero3_sub_groups(model);
    // The embedding's 545 M and 2 layers of 233 M; then 4 layers and a part of one, 1.03 G each.
    CHECK(groups.size() == 8);
    CHECK(groups[0] == 152064.0 * 3584 + 2.0 * layer_parameters(model, model.layer(0)));
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
        CHECK(groups[i] >= 1e9);
        CHECK(groups[i] < 1e9 + 152064.0 * 3584);
    }
    CHECK(std::accumulate(groups.begin(), groups.end(), 0.0) ==
          static_cast<double>(total_parameters(model)));
}

TEST_CASE("zero3: every gradient leaves as bf16, comes back and leaves as fp32", "[plan]") {
    for (const char* tied : {"", ",tied=1"}) {
        const ModelSpec model = parse_generic_model(std::string(kOneLayer) + tied);
        const StepPlan plan = zero3_plan(model);
        const auto parameters = static_cast<double>(total_parameters(model));
        CHECK(link_bytes(plan, OperationKind::copy_gradients_out) == 6 * parameters);
        CHECK(link_bytes(plan, OperationKind::copy_gradients_in) == 2 * parameters);
        // A model of less than the reuse distance is link_bytes in once.
        CHECK(link_bytes(plan, OperationKind::copy_weights_in) ==
              2 * (parameters - (model.layers.size() * 2 + 1) * 1024.0));
    }
}

TEST_CASE("zero3: without recomputation a layer's modules are called once in backward", "[plan]") {
    const ModelSpec model = parse_generic_model(kOneLayer);
    const Zero3Modules modules(model);
    // The model, embedding, layer, norm and head; head, the layer (twice if recomputed), embedding.
    const auto calls = static_cast<std::size_t>(modules.calls_of(0));
    CHECK(modules.step_calls(true).size() == 2 + calls + 2 + 3 + 2 * calls + 1);
    CHECK(modules.step_calls(false).size() == 2 + calls + 2 + 3 + calls + 1);
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = 1;
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    const StepPlan full = plan_step(model, machine, training);
    training.recompute = Recompute::none;
    const StepPlan none = plan_step(model, machine, training);
    // Norms 2 x 2048 + ..., all of a token that autograd keeps from forward to backward.
    const double saved = 1024 * saved_bytes_per_token(model, model.layer(0)).saved;
    CHECK(static_cast<double>(bytes_of(none, "autograd's saved tensors")) == saved);
    CHECK(bytes_of(full, "autograd's saved tensors") == 0);
    CHECK(full.program.flops() > none.program.flops());
}

TEST_CASE("zero3: without overlap_comm copies and modules have one stream", "[plan]") {
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = 1;
    training.own.of<Zero3Options>().overlap_comm = 0;
    const StepPlan plan =
        plan_step(parse_generic_model(kOneLayer),
                  resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
    // Each module waits for the copy before it, and each parameter's copy for the module before it.
    OperationId last_module = -1, last_copy = -1;
    for (std::size_t i = 0; i < plan.program.operations.size(); ++i) {
        const Operation& one = plan.program.operations[i];
        const auto waits_for = [&](OperationId id) {
            return id < 0 || std::ranges::any_of(one.waits_for, [&](const Dependency& on) {
                       return on.operation == id && !on.previous_step;
                   });
        };
        if (one.kind == OperationKind::copy_weights_in) {
            CHECK((waits_for(last_module) || last_copy > last_module));
            last_copy = static_cast<OperationId>(i);
        } else if (one.lane.work == Work::compute) {
            CHECK((waits_for(last_copy) || last_module > last_copy));
            last_module = static_cast<OperationId>(i);
        }
    }
    CHECK(last_copy >= 0);
}

TEST_CASE("zero3: each of eight GPUs copies an eighth, and all gather and reduce the rest",
          "[plan]") {
    const ModelSpec model = parse_generic_model(kOneLayer);
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = 8;
    const auto plan_on = [&](std::int64_t gpus, std::int64_t offload_params) {
        training.gpus = gpus;
        training.own.of<Zero3Options>().offload_params = offload_params;
        return plan_step(model, machine, training);
    };
    const StepPlan one = plan_on(1, 1), eight = plan_on(8, 1), kept = plan_on(8, 0);
    const auto parameters = static_cast<double>(total_parameters(model));
    for (const OperationKind kind :
         {OperationKind::copy_weights_in, OperationKind::copy_gradients_in,
          OperationKind::copy_gradients_out})
        CHECK(link_bytes(eight, kind) == Approx(link_bytes(one, kind) / 8));
    // A ring sends 7 of 8 parts.
    CHECK(link_bytes(eight, OperationKind::all_gather) ==
          Approx(link_bytes(one, OperationKind::copy_weights_in) * 7 / 8));
    CHECK(link_bytes(eight, OperationKind::reduce_scatter) == Approx(2 * parameters * 7 / 8));
    // Parameters that stay arrive once, when they have been updated.
    CHECK(link_bytes(kept, OperationKind::copy_weights_in) == Approx(2 * parameters / 8));
    CHECK(link_bytes(kept, OperationKind::all_gather) ==
          link_bytes(eight, OperationKind::all_gather));
    CHECK(static_cast<double>(bytes_of(kept, "a GPU's part of parameters")) ==
          Approx(2 * parameters / 8));
    CHECK(bytes_of(kept, "pinned bf16 parameters") == 0);
    CHECK_THROWS_WITH(plan_on(1, 0), ContainsSubstring("--offload-params is 0 on one GPU"));
}

TEST_CASE("zero3: of a large model little more than max_live_parameters is on the device",
          "[plan]") {
    ModelSpec model = read_model("qwen2.5-7b");
    model.tied_embeddings = false;
    const StepPlan plan = zero3_plan(model);
    const auto count = static_cast<OperationId>(plan.program.operations.size());
    std::vector<double> live(static_cast<std::size_t>(count) + 1, 0);
    for (const Buffer& buffer : plan.memory.buffers) {
        if (buffer.name != "gathered parameter") continue;
        live[static_cast<std::size_t>(buffer.first)] += static_cast<double>(buffer.bytes);
        live[static_cast<std::size_t>(buffer.last) + 1] -= static_cast<double>(buffer.bytes);
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    const double most = *std::max_element(live.begin(), live.end());
    CHECK(most >= 2e9);
    CHECK(most < 2 * (1e9 + 152064.0 * 3584 + 5e7 + 18944.0 * 3584 * 3));
    // Forward and backward each need all of it, less what is kept from one to the other.
    const double weights = link_bytes(plan, OperationKind::copy_weights_in);
    const auto once = 2 * static_cast<double>(total_parameters(model));
    CHECK(weights > 1.7 * once);
    CHECK(weights <= 2 * once);
}

TEST_CASE("zero3: smaller sub-groups are pinned closer to their size", "[plan]") {
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = 1;
    training.sub_group_elements = 8 << 20;
    const StepPlan plan =
        plan_step(parse_generic_model(kOneLayer),
                  resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
    // The embedding's 128 MiB; norms, q to gate: 8 Mi and 2 Ki elements, beyond 32 MiB; up and
    // down; the last norm and the head, beyond 128 MiB.
    CHECK(bytes_of(plan, "pinned fp32 gradients of sub-groups") ==
          (128 + 64 + 32 + 256) * kMiBytes);
}

TEST_CASE("zero3: Python waits for parameters, and what leaves waits for Python", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-1.5b");
    const StepPlan plan = zero3_plan(model);
    const auto& operations = plan.program.operations;
    const auto waits_for = [&](const Operation& operation, Lane lane) {
        return std::any_of(
            operation.waits_for.begin(), operation.waits_for.end(), [&](const Dependency& wait) {
                return !wait.previous_step &&
                       operations[static_cast<std::size_t>(wait.operation)].lane == lane;
            });
    };
    int waits_for_copies = 0;
    double of_a_forward = 0;
    bool backward = false;
    for (const Operation& operation : operations) {
        backward |= operation.kind == OperationKind::loss;
        if (operation.lane.work == Work::compute) {
            CHECK(waits_for(operation, Work::python));
            CHECK(operation.eager_operations == 0);  // Python's lane has it
        }
        if (operation.lane.work == Work::python) {
            waits_for_copies += waits_for(operation, Work::host_to_device) ? 1 : 0;
            if (operation.layer == 1 && !backward) of_a_forward += operation.eager_operations;
        }
        if (operation.kind == OperationKind::copy_gradients_out &&
            waits_for(operation, Work::compute))
            CHECK(waits_for(operation, Work::python));
    }
    // Once for each group that is fetched together: embedding, layers three times, head.
    CHECK(waits_for_copies >= model.layer_count());
    CHECK(waits_for_copies <= 3 * model.layer_count() + 6);
    // Hooks of ten modules and seven parameters; 16 kernels; checkpointing.
    CHECK(of_a_forward == Approx(10 * 39 + 7 * 11 + 16 * 6 + 118));
}

TEST_CASE("zero3: the experts of a layer are fetched together, once a call", "[plan]") {
    ModelSpec model = read_model("qwen3-30b-a3b");
    truncate_layers(model, 2);
    const StepPlan plan = zero3_plan(model);
    CHECK(plan.program.operations.size() < 500);
    const Zero3Modules modules(model);
    // The layer, its norms, attention's 4 matrices, the router and the block of experts.
    CHECK(modules.calls_of(0) == 3 + 4 + 1 + 1);
    CHECK(modules.tensors()[static_cast<std::size_t>(modules.of_layer(0).back())] == 3 * 128);
    ParameterFetches calls(modules.elements(), modules.step_calls());
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < calls.calls(); ++i) {
        const ParameterFetches::Call call = calls.next();
        for (const auto& list : {call.missing, call.prefetched})
            for (const int parameter : list)
                elements += modules.elements()[static_cast<std::size_t>(parameter)];
    }
    CHECK(link_bytes(plan, OperationKind::copy_weights_in) == 2.0 * static_cast<double>(elements));
}
