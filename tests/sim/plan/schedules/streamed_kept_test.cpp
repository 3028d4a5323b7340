// How many layers keep tensors on the host, and how much memory and traffic is that?
#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/plan/step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

TrainingSpec keeping_on_host(std::int64_t layers, std::int64_t last) {
    TrainingSpec spec;
    spec.batch = 4;
    spec.sequence = 256;
    spec.host_kept_layers = layers;
    spec.keep_last_layers = last;
    return spec;
}

MachineSpec any_machine() { return resolve_machine(read_machine_profile("h200-sxm-pcie5")); }

}  // namespace

TEST_CASE("streamed kept: more layers than the last ones leave are no more", "[plan]") {
    const ModelSpec model = parse_generic_model(
        "layers=8,hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000,tied=0");
    const MachineSpec machine = any_machine();
    for (const auto& [asked, last, kept] : {std::tuple{8, 3, 5}, {5, 3, 5}, {2, 3, 2}, {4, 8, 0}}) {
        const TrainingSpec training = keeping_on_host(asked, last);
        CHECK(asked_step(model, machine, training).training.host_kept_layers == kept);
        CHECK(
            bytes_of(plan_step(model, machine, training), "kept for backward") ==
            bytes_of(plan_step(model, machine, keeping_on_host(kept, last)), "kept for backward"));
    }
    TrainingSpec other = keeping_on_host(0, 0);
    other.schedule = Schedule("megatrain");
    CHECK(asked_step(model, machine, other).training.host_kept_layers == 0);
}

TEST_CASE("streamed kept: each layer takes what it keeps", "[plan]") {
    ModelSpec model = parse_generic_model(
        "layers=4,hidden=512,kv_heads=4,intermediate=2048,vocabulary=1000,tied=0");
    LayerSpec narrow = model.kinds[0];
    narrow.feed_forward.intermediate = 512;
    model.kinds.push_back(narrow);
    model.layers = {0, 1, 1, 1};
    const TrainingSpec training = keeping_on_host(4, 0);
    const StepPlan plan = plan_step(model, any_machine(), training);
    const double tokens = 4 * 256,
                 wide = kept_bytes(model, placement_of(model, training), 0).all() * tokens,
                 rest = kept_bytes(model, placement_of(model, training), 1).all() * tokens;
    REQUIRE(rest < wide);
    const double all = wide + 3 * rest;
    const Bytes aligned = 4 * (kRoomForParts + kArenaAlignment);  // of four layers
    CHECK(bytes_of(plan, "kept for backward") == static_cast<Bytes>(all) + aligned);
    CHECK(link_bytes(plan, OperationKind::copy_kept_out) == all);
    CHECK(link_bytes(plan, OperationKind::copy_kept_in) == all);
    CHECK(bytes_of(plan, "kept for backward, in turn") == 2 * static_cast<Bytes>(wide));
}
