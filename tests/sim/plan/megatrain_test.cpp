// What MegaTrain's schedule keeps, counted by hand.
#include "sim/machine/machine_profile.h"
#include "sim/model/read_model.h"
#include "sim/plan/step_plan.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

StepPlan plan_of(const ModelSpec& model) {
    TrainingSpec training;
    training.schedule = Schedule::megatrain;
    return plan_step(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
}

}  // namespace

TEST_CASE("megatrain: a tied table has its gradient from the loss to the embedding's", "[plan]") {
    const std::string shape = "layers=4,hidden=512,vocabulary=1000";
    for (const bool tied : {false, true}) {
        const StepPlan plan = plan_of(parse_generic_model(shape + (tied ? ",tied=1" : "")));
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
        const StepPlan plan = plan_of(model);
        const auto count = static_cast<OperationId>(plan.program.operations.size());
        return 2 * total_parameters(model) + plan.memory.host_between_steps -
               peak_memory(plan.memory, Tier::host, count).bytes;
    };
    const Bytes dense = kept();
    model.kinds[0].feed_forward.experts = 8;
    model.kinds[0].feed_forward.experts_per_token = 2;
    CHECK(kept() - dense == 2 * 7 * 3 * 1024 * 512 * 2);
}
