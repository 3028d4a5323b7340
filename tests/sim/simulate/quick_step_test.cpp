// Does a search see the steps that SimGrid simulates?
#include <algorithm>
#include <cmath>
#include <random>

#include "sim/base/input_error.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/any_training.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("quick step: that of SimGrid, whatever the machine, model, schedule and settings",
          "[simulate]") {
    std::mt19937 random(45);
    int compared = 0;
    double worst = 0;
    while (compared < 300) {
        const std::string machine_name = any_of(random, library_machines());
        const std::string model_name = any_of(random, library_models());
        const TrainingSpec training = any_training(random);
        try {
            ModelSpec model = read_model(model_name);
            truncate_layers(model, std::min(model.layer_count(), 12));
            const MachineSpec machine = resolve_machine(read_machine_profile(machine_name));
            check_training_spec(training);
            const StepPlan plan = plan_step(model, machine, training);
            const SimulatedStep simulated = simulate_step(plan, machine, training);
            const SimulatedStep quick = quick_step(plan, machine, training);
            const double apart = std::abs(quick.step / simulated.step - 1);
            CAPTURE(machine_name, model_name, training.schedule->name, training.batch,
                    simulated.step, quick.step, simulated.steps, quick.steps, simulated.steady);
            CHECK(apart < 1e-5);
            worst = std::max(worst, apart);
            ++compared;
        } catch (const InputError&) {
            continue;  // not valid together
        }
    }
    CAPTURE(worst);
    CHECK(worst < 1e-5);
}
