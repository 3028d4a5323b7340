// Buffers of MegaTrain's schedule, counted by hand.
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

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
    training.flash_loss = 1;
    CHECK(logits() == all + 2 * input + 3 * table - piece);
    training.sequence = 128;  // one piece: nothing is added
    CHECK(logits() == 2 * 127 * 50000 * 2 + 2 * 128 * 512 * 2 + table);
}
