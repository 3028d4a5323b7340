// Which tensors does the streamed schedule save for backward where sequences are long? Half of the
// layer inputs, and attention's output of some layers. Counted by hand.
#include <algorithm>

#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr double kHalfTokens = 2 * 256, kHalfInput = kHalfTokens * 512 * 2;

ModelSpec half_model(int layers) {
    return parse_generic_model(
        fmt::format("layers={},hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000", layers));
}

TrainingSpec half_training(CheckpointPlacement checkpoints) {
    TrainingSpec spec;
    spec.batch = 2;
    spec.sequence = 256;
    spec.saved_inputs = SavedInputs::half;
    spec.checkpoints = checkpoints;
    check_training_spec(spec);
    return spec;
}

StepPlan half_plan(int layers, const TrainingSpec& spec) {
    return plan_step(half_model(layers), resolve_machine(read_machine_profile("h200-sxm-pcie5")),
                     spec);
}

/// Layers whose attention output is kept, in their order.
std::vector<int> keeping_attention(int layers, const TrainingSpec& spec) {
    const ModelSpec model = half_model(layers);
    std::vector<int> out;
    for (int layer = 0; layer < layers; ++layer)
        if (placement_of(model, spec).recompute(layer) == Recompute::keep_attention)
            out.push_back(layer);
    return out;
}

}  // namespace

TEST_CASE("saved inputs: half of them wait, the others share a place", "[plan]") {
    TrainingSpec spec = half_training(CheckpointPlacement::device);
    // Inputs of layers 0, 2, 4.
    CHECK(bytes_of(half_plan(5, spec), "layer input") == 3 * kHalfInput);
    CHECK(bytes_of(half_plan(6, spec), "layer input") == 3 * kHalfInput);
    CHECK(bytes_of(half_plan(6, spec), "layer input, computed again") == kHalfInput);

    spec.checkpoints = CheckpointPlacement::host;
    for (const int layers : {5, 6}) {
        const StepPlan plan = half_plan(layers, spec);
        // Layer 0's are the embedding rows; layer 4's stays where it is.
        CHECK(bytes_of(plan, "checkpoints") == kHalfInput);
        CHECK(link_bytes(plan, OperationKind::copy_checkpoint_out) == kHalfInput);
        CHECK(link_bytes(plan, OperationKind::copy_checkpoint_in) == 2 * kHalfInput);
        CHECK(bytes_of(plan, "checkpoints coming back") == 0);
    }
}

TEST_CASE("saved inputs: all but the last layer's are computed once more", "[plan]") {
    TrainingSpec spec = half_training(CheckpointPlacement::device);
    spec.recompute = Recompute::keep_attention;
    const Flops half = half_plan(6, spec).program.flops();
    spec.saved_inputs = SavedInputs::all;
    const StepPlan plan = half_plan(6, spec);
    // Layers 1 and 3: of layers 0 and 2 output 512x512, gate and up 2048x512, down 512x1024, two
    // FLOPs each a token.
    CHECK(half - plan.program.flops() == 2 * 2 * kHalfTokens * 1'835'008);
}

TEST_CASE("saved inputs: weights come as often as where all inputs are saved", "[plan]") {
    TrainingSpec spec = half_training(CheckpointPlacement::device);
    for (const std::int64_t depth : {2, 3, 4}) {
        spec.buffer_depth = depth;
        spec.saved_inputs = SavedInputs::half;
        const double half = link_bytes(half_plan(7, spec), OperationKind::copy_weights_in);
        spec.saved_inputs = SavedInputs::all;
        CHECK(half == link_bytes(half_plan(7, spec), OperationKind::copy_weights_in));
    }
}

TEST_CASE("saved inputs: layers that keep attention's output are not told twice", "[plan]") {
    TrainingSpec spec;
    spec.keep_attention_layers = 2;
    check_training_spec(spec);
    for (const Recompute recompute : {Recompute::keep_attention, Recompute::none}) {
        spec.recompute = recompute;
        CHECK_THROWS_WITH(check_training_spec(spec),
                          ContainsSubstring("--keep-attention-layers is 2 with --recompute ") &&
                              ContainsSubstring("leave it out"));
    }
}

TEST_CASE("saved inputs: attention's output is kept first where it saves most", "[plan]") {
    TrainingSpec spec = half_training(CheckpointPlacement::device);
    spec.keep_attention_layers = 4;
    CHECK(keeping_attention(6, spec) == std::vector{0, 2, 4, 5});
    spec.keep_attention_layers = 2;
    CHECK(keeping_attention(6, spec) == std::vector{2, 4});
    CHECK(bytes_of(half_plan(6, spec), "kept for backward") == 2 * kHalfTokens * (512 * 2 + 4 * 4));
    spec.keep_attention_layers = 6;
    CHECK(keeping_attention(6, spec).size() == 6);
    spec.saved_inputs = SavedInputs::all;
    spec.keep_attention_layers = 4;
    CHECK(keeping_attention(6, spec) == std::vector{2, 3, 4, 5});
    spec.keep_last_layers = 1;  // keeps more than that
    CHECK(keeping_attention(6, spec) == std::vector{2, 3, 4});
}
