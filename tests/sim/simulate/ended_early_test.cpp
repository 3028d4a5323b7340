// Does a simulation end early where a step takes longer than it may?
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("simulate: ends early only where a step is longer than it is worth", "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib-2"));
    for (const Clipping clipping : {Clipping::exact, Clipping::speculative}) {
        TrainingSpec training;
        training.batch = 8;
        training.clipping = clipping;
        const StepPlan plan = plan_step(model, machine, training);
        const SimulatedStep all = simulate_step(plan, machine, training);
        const SimulatedStep worth = simulate_step(plan, machine, training, 1.001 * all.step);
        REQUIRE(!worth.ended_early());
        CHECK(worth.step == all.step);
        const SimulatedStep early = simulate_step(plan, machine, training, all.step / 2);
        REQUIRE(early.ended_early());
        CHECK(early.step > all.step / 2);
        CHECK(early.step <= 1.0001 * all.step);
    }
}
