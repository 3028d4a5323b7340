// Which updates does the streamed schedule defer, in which order do they run, and what do they cost
// and gain? Counted by hand.
#include <algorithm>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

StepPlan deferring(std::int64_t deferred, std::int64_t resident = 0,
                   ResidentTables tables = ResidentTables::none) {
    TrainingSpec spec;
    spec.batch = 4;
    spec.sequence = 256;
    spec.clipping = Clipping::speculative;
    spec.deferred_layers = deferred;
    spec.resident_layers = resident;
    spec.resident_tables = tables;
    check_training_spec(spec);
    return plan_step(parse_generic_model("layers=8,hidden=512,kv_heads=4,intermediate=1024,"
                                         "vocabulary=1000,tied=0"),
                     resolve_machine(read_machine_profile("h200-sxm-pcie5")), spec);
}

/// Layers in the order in which the host updates them; 8 is the head, -1 the embedding.
std::vector<int> updated(const StepPlan& plan) {
    std::vector<int> out;
    for (const Operation& op : plan.program.operations)
        if (op.kind == OperationKind::update && op.lane.work == Work::optimizer)
            out.push_back(op.layer == kEmbeddingLayer ? -1 : op.layer);
    return out;
}

}  // namespace

TEST_CASE("streamed deferred: the optimizer ends with these layers, the first one first",
          "[plan]") {
    CHECK(updated(deferring(0)) == std::vector{8, 7, 6, 5, 4, 3, 2, 1, 0, -1});
    CHECK(updated(deferring(2)) == std::vector{8, 6, 5, 4, 2, 1, 0, -1, 3, 7});
    CHECK(updated(deferring(4)) == std::vector{8, 6, 4, 2, 0, -1, 1, 3, 5, 7});
    CHECK(updated(deferring(8)) == std::vector{8, -1, 0, 1, 2, 3, 4, 5, 6, 7});
    // Two of the six layers that are not resident; those of the tables run on the device.
    CHECK(updated(deferring(2, 2, ResidentTables::both)) == std::vector{6, 5, 3, 2, 4, 7});
    CHECK(updated(deferring(2, 6)) == std::vector{8, -1, 6, 7});
}

TEST_CASE("streamed deferred: each of these layers has its own gradient on the host", "[plan]") {
    const Bytes layer = 2 * 2'622'464;
    CHECK(bytes_of(deferring(0), "pinned places of waiting gradients") == 4 * layer);
    CHECK(bytes_of(deferring(3), "pinned places of waiting gradients") == (4 + 3) * layer);
    CHECK(bytes_of(deferring(6), "pinned places of waiting gradients") == (2 + 6) * layer);
    CHECK(bytes_of(deferring(3, 5), "pinned places of waiting gradients") == 3 * layer);
}

TEST_CASE("streamed deferred: a number that cannot be is refused", "[plan]") {
    CHECK_THROWS_WITH(deferring(9), ContainsSubstring("--deferred-layers is 9, expected at most") &&
                                        ContainsSubstring("layers (8)"));
    CHECK_THROWS_WITH(deferring(3, 6), ContainsSubstring("--deferred-layers is 3, expected at "
                                                         "most the 2 layers on the host (8 less "
                                                         "--resident-layers 6)"));
    TrainingSpec exact;
    exact.clipping = Clipping::exact;
    exact.deferred_layers = 1;
    CHECK_THROWS_WITH(check_training_spec(exact),
                      ContainsSubstring("--deferred-layers is 1 with --clipping exact"));
}
