// No step is simulated faster than its bound, whatever the machine, model, schedule and settings.
#include "sim/simulate/step_bounds.h"

#include <random>

#include "sim/base/input_error.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/any_training.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("step bounds: below every simulated step, and near most", "[search]") {
    std::mt19937 random(11);
    const std::vector<std::string> machines = library_machines(), models = library_models();
    int compared = 0, near = 0;
    while (compared < 300) {
        const std::string machine_name = any_of(random, machines);
        const std::string model_name = any_of(random, models);
        TrainingSpec training = any_training(random);
        try {
            ModelSpec model = read_model(model_name);
            truncate_layers(model, std::min(model.layer_count(), 12));
            const MachineSpec machine = resolve_machine(read_machine_profile(machine_name));
            check_training_spec(training);
            const StepPlan plan = plan_step(model, machine, training);
            const std::vector<FlowDemand> demands =
                operation_demands(plan.program, machine, training);
            const StepBounds bounds = step_bounds(plan.program, demands, machine, training);
            const Seconds step = simulate_step(plan, machine, training).step;
            INFO(machine_name << " " << model_name << " schedule " << training.schedule->name
                              << " batch " << training.batch << " seq " << training.sequence);
            CHECK(bounds.at_least() <= step);
            CHECK(bounds.at_least() > 0.5 * step);
            CHECK(compute_bound(plan.program, demands, machine, training) <= bounds.at_least());
            ++compared;
            if (bounds.at_least() > 0.95 * step) ++near;
        } catch (const InputError&) {
            continue;  // they do not go together
        }
    }
    CHECK(near > compared / 2);
}

TEST_CASE("step bounds: energy that is saved in no time is not paid for, in any order",
          "[search]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    const double limit = machine.gpu.clock.limit_w;
    REQUIRE(machine.gpu.clock.energy_share < 1);
    // A second each at 1.5 times the limit; the clock falls for nothing, or for a tenth.
    const FlowDemand free = {1, 1, {1, 1, 1.5 * limit}}, dear = {1, 1, {1, 1.1, 1.5 * limit}};
    const auto fluid = [&](std::vector<FlowDemand> demands) {
        StepProgram program;
        program.operations.resize(demands.size());
        for (Operation& operation : program.operations) operation.lane = Work::compute;
        return step_bounds(program, demands, machine, {}).fluid;
    };
    CHECK(fluid({free, free}) == Approx(2));
    CHECK(fluid({dear, free}) == Approx(2));
    CHECK(fluid({free, dear}) == Approx(2));
    CHECK(fluid({dear, dear}) > 2.01);
}
