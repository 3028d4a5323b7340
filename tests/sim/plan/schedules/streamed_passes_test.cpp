// How much do several passes over the model cost the streamed schedule, and how much do they save?
// Counted by hand.
#include <algorithm>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// A layer: qkv 1536x512, output 512x512, gate and up 2048x512, down 512x1024, two norms of 512.
constexpr double kPassedLayer = 2'622'464, kPassedHead = 1000 * 512 + 512;

StepPlan in_passes(std::int64_t passes, std::int64_t resident = 0) {
    TrainingSpec spec;
    spec.batch = 8;
    spec.sequence = 256;
    spec.micro_batch = 2;
    spec.passes = passes;
    spec.recompute = Recompute::none;
    spec.resident_layers = resident;
    check_training_spec(spec);
    return plan_step(parse_generic_model("layers=5,hidden=512,kv_heads=4,intermediate=1024,"
                                         "vocabulary=1000,tied=0"),
                     resolve_machine(read_machine_profile("h200-sxm-pcie5")), spec);
}

std::ptrdiff_t passed(const StepPlan& plan, OperationKind kind) {
    return std::ranges::count(plan.program.operations, kind, &Operation::kind);
}

}  // namespace

TEST_CASE("streamed passes: weights come in each, but for those still in a slot", "[plan]") {
    // Five layers, and three again for backward; a later pass finds the first two in the slots.
    // The head comes once.
    const auto of_layers = [](double copies) { return 2 * (copies * kPassedLayer + kPassedHead); };
    CHECK(link_bytes(in_passes(1), OperationKind::copy_weights_in) == of_layers(5 + 3));
    CHECK(link_bytes(in_passes(2), OperationKind::copy_weights_in) == of_layers(8 + 3 + 3));
    CHECK(link_bytes(in_passes(4), OperationKind::copy_weights_in) == of_layers(8 + 3 * (3 + 3)));
    // Three are streamed: backward copies one again, and so does the next forward.
    CHECK(link_bytes(in_passes(2, 2), OperationKind::copy_weights_in) == of_layers(3 + 1 + 1 + 1));
    // Two are streamed, which stay in the slots.
    CHECK(link_bytes(in_passes(4, 3), OperationKind::copy_weights_in) == of_layers(2));
}

TEST_CASE("streamed passes: gradients leave, and parameters are updated, once", "[plan]") {
    const StepPlan one = in_passes(1), four = in_passes(4);
    for (const OperationKind kind : {OperationKind::copy_gradients_out, OperationKind::update,
                                     OperationKind::copy_embeddings_in, OperationKind::forward,
                                     OperationKind::loss, OperationKind::backward})
        CHECK(passed(four, kind) == passed(one, kind));
    CHECK(link_bytes(four, Work::device_to_host) == link_bytes(one, Work::device_to_host));
    CHECK(four.program.flops() == one.program.flops());
}

TEST_CASE("streamed passes: less is kept, and gradients of all layers are summed", "[plan]") {
    const StepPlan one = in_passes(1), four = in_passes(4);
    CHECK(bytes_of(four, "kept for backward") == bytes_of(one, "kept for backward") / 4);
    // Rows of 512 numbers of 2 bytes for 8 x 256 tokens; layer 0's are the whole batch's.
    constexpr Bytes kRows = Bytes{2} * 512 * 8 * 256;
    CHECK(bytes_of(one, "layer input") == 5 * kRows);
    CHECK(bytes_of(four, "layer input") == kRows + 4 * kRows / 4);
    CHECK(bytes_of(one, "gradient sums in fp32") == static_cast<Bytes>(4 * kPassedLayer));
    CHECK(bytes_of(four, "gradient sums in fp32") == static_cast<Bytes>(5 * 4 * kPassedLayer));
}
