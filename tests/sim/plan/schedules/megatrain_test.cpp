// Buffers of MegaTrain's schedule, counted by hand.
#include <algorithm>

#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;

namespace {

StepPlan megatrain_plan(const ModelSpec& model) {
    TrainingSpec training;
    training.schedule = Schedule("megatrain");
    return plan_step(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
}

}  // namespace

TEST_CASE("megatrain: a tied table has its gradient from the loss to the embedding's", "[plan]") {
    const std::string shape = "layers=4,hidden=512,vocabulary=1000";
    for (const bool tied : {false, true}) {
        const StepPlan plan = megatrain_plan(parse_generic_model(shape + (tied ? ",tied=1" : "")));
        int found = 0;
        for (const Buffer& buffer : plan.memory.buffers) {
            if (buffer.name != "tied table's gradient") continue;
            ++found;
            CHECK(buffer.bytes == 1000 * 512 * 2);
            const auto kind = [&](OperationId id) {
                return plan.program.operations[static_cast<std::size_t>(id)].kind;
            };
            CHECK(kind(buffer.first) == OperationKind::forward);  // the first to be done again
            CHECK(kind(buffer.last) == OperationKind::embedding_backward);
        }
        CHECK(found == (tied ? 1 : 0));
    }
}

TEST_CASE("megatrain: gradients of every expert stay in the heap where they are small", "[plan]") {
    // Two layers, 8 experts of gate, up and down of 1024 x 512 in bf16 (1 MB, under 32 MiB each).
    ModelSpec model = parse_generic_model("layers=2,hidden=512,intermediate=1024,vocabulary=1000");
    const auto kept = [&] {
        const StepPlan plan = megatrain_plan(model);
        const auto count = static_cast<OperationId>(plan.program.operations.size());
        return 2 * total_parameters(model) + plan.memory.host_between_steps -
               peak_memory(plan.memory, Tier::host, count).bytes;
    };
    const Bytes dense = kept();
    model.kinds[0].feed_forward.experts = 8;
    model.kinds[0].feed_forward.experts_per_token = 2;
    CHECK(kept() - dense == 2 * 7 * 3 * 1024 * 512 * 2);
}

TEST_CASE("megatrain: flash-attn's cross-entropy keeps the logits and no piece in addition",
          "[plan]") {
    // 2 sequences of 1024 tokens, hidden 512, a vocabulary of 50000: pieces of 128 positions.
    const ModelSpec model = parse_generic_model("layers=2,hidden=512,vocabulary=50000");
    TrainingSpec training;
    training.schedule = Schedule("megatrain");
    training.batch = 2;
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    const auto logits = [&] {
        for (const Buffer& buffer : plan_step(model, machine, training).memory.buffers)
            if (buffer.name == "logits of all pieces") return buffer.bytes;
        return Bytes{0};
    };
    const Bytes all = 2 * 1023 * 50000 * 2, piece = 2 * 128 * 50000 * 2;
    const Bytes input = 2 * 1024 * 512 * 2, table = 50000 * 512 * 2;
    CHECK(logits() == all + 3 * table);  // more than 3 pieces
    training.own.of<MegaTrainOptions>().flash_loss = true;
    CHECK(logits() == all + 2 * input + 3 * table - piece);
    training.sequence = 128;  // one piece: nothing is added
    CHECK(logits() == 2 * 127 * 50000 * 2 + 2 * 128 * 512 * 2 + table);
}

namespace {

// Four layers of 2,622,464: 4 x 512^2 for attention, 3 x 512 x 1024, two norms.
constexpr double kForkLayers = 4 * 2'622'464.0;

StepPlan fork_plan(Fork fork) {
    TrainingSpec training;
    training.schedule = Schedule("megatrain");
    training.batch = 1;
    training.sequence = 256;
    training.own.of<MegaTrainOptions>().fork = fork;
    return plan_step(
        parse_generic_model("layers=4,hidden=512,heads=4,intermediate=1024,vocabulary=1000"),
        resolve_machine(read_machine_profile("dgx-spark-gb10")), training);
}

double flattened(const StepPlan& plan) {
    double bytes = 0;
    for (const Operation& operation : plan.program.operations)
        if (operation.kind == OperationKind::flatten_weights) bytes += operation.host_bytes;
    return bytes;
}

}  // namespace

TEST_CASE("megatrain: its fork gathers a layer's weights before each copy", "[plan]") {
    CHECK(flattened(fork_plan(Fork::none)) == 0);
    // Forward, forward of a block again, backward; without the second where inputs are kept.
    CHECK(flattened(fork_plan(Fork::flatten)) == 3 * 2 * kForkLayers);
    CHECK(flattened(fork_plan(Fork::store)) == 2 * 2 * kForkLayers);
    CHECK(flattened(fork_plan(Fork::views)) == 2 * 2 * kForkLayers);
    const StepPlan plan = fork_plan(Fork::flatten);
    CHECK(test::link_bytes(plan, OperationKind::copy_weights_in) -
              test::link_bytes(fork_plan(Fork::store), OperationKind::copy_weights_in) ==
          2 * kForkLayers);
    CHECK(test::bytes_of(plan, "pinned flat weights") == 0);
    CHECK(test::bytes_of(fork_plan(Fork::none), "pinned flat weights") > 0);
}

TEST_CASE("megatrain: its fork keeps each layer's input, and three buffers without templates",
          "[plan]") {
    const double input = 256 * 512 * 2;
    CHECK(test::bytes_of(fork_plan(Fork::flatten), "layer input") == input);
    CHECK(test::bytes_of(fork_plan(Fork::store), "layer input") == 4 * input);
    CHECK(test::bytes_of(fork_plan(Fork::store), "layer templates") == kForkLayers);
    const StepPlan views = fork_plan(Fork::views);
    CHECK(test::bytes_of(views, "layer templates") == 0);
    CHECK(test::bytes_of(views, "weight buffers") == 3 * kForkLayers / 2);
    const auto unflattens = [](const StepPlan& plan) {
        return std::ranges::count(plan.program.operations, OperationKind::unflatten,
                                  &Operation::kind);
    };
    CHECK(unflattens(views) == 0);
    CHECK(unflattens(fork_plan(Fork::store)) == 2 * 4);
}
