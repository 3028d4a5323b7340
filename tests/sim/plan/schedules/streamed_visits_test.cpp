// Which states visit the device, when do they come and leave, and which memory do they take there?
// Counted by hand.
#include <vector>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/streamed.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/eight_layers.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Two layers are resident, and those after them visit.
TrainingSpec visiting(std::int64_t layers) {
    TrainingSpec spec;
    spec.batch = 2;
    spec.sequence = 1024;
    spec.clipping = Clipping::exact;
    spec.recompute = Recompute::none;
    spec.resident_layers = 2;
    spec.visiting_layers = layers;
    return spec;
}

/// Layers of these operations, in order.
std::vector<int> layers_of(const StepPlan& plan, OperationKind kind, Lane lane) {
    std::vector<int> out;
    for (const Operation& op : plan.program.operations)
        if (op.kind == kind && op.lane == lane && op.layer >= 0) out.push_back(op.layer);
    return out;
}

Bytes peak_with_visits(const StepPlan& plan) {
    return peak_memory(plan.memory, Tier::device,
                       static_cast<OperationId>(plan.program.operations.size()))
        .bytes;
}

constexpr const char* kInTurn = "kept for backward, in turn with visiting states";

}  // namespace

TEST_CASE("streamed visits: the device updates these layers first, the host the others", "[plan]") {
    const StepPlan plan = eight_layer_plan(visiting(3));
    CHECK(layers_of(plan, OperationKind::update, Work::compute) == std::vector{2, 3, 4, 0, 1});
    CHECK(layers_of(plan, OperationKind::update, Work::optimizer) == std::vector{5, 6, 7, 8});
    CHECK(layers_of(plan, OperationKind::copy_gradients_out, Work::device_to_host) ==
          std::vector{8, 7, 6, 5});
}

TEST_CASE("streamed visits: all of a state comes, its weights leave before the rest", "[plan]") {
    const StepPlan plan = eight_layer_plan(visiting(3));
    using enum OperationKind;
    CHECK(link_bytes(plan, copy_states_in) == 3 * 12 * kLayerOfEight);
    CHECK(link_bytes(plan, copy_weights_out) == 3 * 2 * kLayerOfEight);
    CHECK(link_bytes(plan, copy_states_out) == 3 * 10 * kLayerOfEight);
    CHECK(find_operation(plan.program, copy_weights_out, 4) <
          find_operation(plan.program, copy_states_out, 2));
    // The weights of layer 2 are the last to come again, for its backward.
    CHECK(find_operation(plan.program, copy_states_in, 2) >
          find_operation(plan.program, backward, 2));
    CHECK(find_operation(plan.program, copy_states_in, 4) <
          find_operation(plan.program, backward, 1));
}

TEST_CASE("streamed visits: what last layers keep is in the same place in between", "[plan]") {
    const ModelSpec model = eight_layers();
    const double a_token = kept_bytes(model, placement_of(model, visiting(0)), 0).all();
    // States of a layer, 31.5 MB, take less than two of the eight layers keep.
    REQUIRE(1024 * 2 * a_token < 12 * kLayerOfEight);
    REQUIRE(2 * 1024 * 2 * a_token > 12 * kLayerOfEight);
    for (const auto& [layers, beside] : {std::pair{0, 0}, {1, 2}, {3, 6}}) {
        const StepPlan plan = eight_layer_plan(visiting(layers));
        const auto all = static_cast<Bytes>(8 * 1024 * 2 * a_token);
        CHECK(bytes_of(plan, kInTurn) == all * beside / 8);
        CHECK(bytes_of(plan, "kept for backward") == all * (8 - beside) / 8);
        CHECK(bytes_of(plan, "visiting states") == 0);
    }
    const auto place = placement_of(model, visiting(3)).kept_beside_visit(4);
    REQUIRE(place);
    CHECK(place->visit == 1);
    CHECK(place->part == 0);
    CHECK(place->parts == 2);
    CHECK(!placement_of(model, visiting(3)).kept_beside_visit(1));
    // Where nothing is kept, or not by enough layers, states have memory of their own.
    TrainingSpec few = visiting(2);
    few.recompute = Recompute::full;
    CHECK(bytes_of(eight_layer_plan(few), "visiting states") ==
          static_cast<Bytes>(2 * 12 * kLayerOfEight));
    few.keep_last_layers = 3;
    CHECK(bytes_of(eight_layer_plan(few), "visiting states") ==
          static_cast<Bytes>(12 * kLayerOfEight));
    CHECK(bytes_of(eight_layer_plan(few), kInTurn) == static_cast<Bytes>(2 * 1024 * 2 * a_token));
}

TEST_CASE("streamed visits: gradients wait in memory that backward has left", "[plan]") {
    TrainingSpec exact = visiting(2), speculative = visiting(0);
    speculative.clipping = Clipping::speculative;
    for (const std::int64_t passes : {1, 2}) {
        exact.passes = speculative.passes = passes;
        // The last layer that visits has its gradient when few layers are behind.
        CHECK(peak_with_visits(eight_layer_plan(exact)) -
                  peak_with_visits(eight_layer_plan(speculative)) <=
              2 * kLayerOfEight);
    }
}

TEST_CASE("streamed visits: what they cannot be combined with is refused", "[plan]") {
    TrainingSpec speculative = visiting(1);
    speculative.clipping = Clipping::speculative;
    CHECK_THROWS_WITH(
        check_training_spec(speculative),
        ContainsSubstring("--visiting-layers is 1 with --clipping speculative, expected 0"));
    TrainingSpec codes = visiting(1);
    codes.compute = codes.stream_weights = Compute::fp8;
    CHECK_THROWS_WITH(check_training_spec(codes),
                      ContainsSubstring("--visiting-layers is 1 with --stream-weights fp8"));
    CHECK_THROWS_WITH(eight_layer_plan(visiting(7)),
                      ContainsSubstring("--visiting-layers is 7, expected at most the 6 layers on "
                                        "the host (8 less --resident-layers 2)"));
}
