#include <fmt/format.h>
#include "sim/input_error.h"
#include "sim/machine/machine_spec.h"
#include "sim/model/read_model.h"
#include "sim/simulate/simulate_step.h"
using namespace sluice;
int main(int argc, char** argv) {
    try {
        if (argc > 1 && std::string(argv[1]) == "count") {
            for (auto& n : library_models()) { auto m = read_model(n); fmt::print("{} {} {}\n", n, total_parameters(m), active_parameters(m)); }
            return 0;
        }
        auto model = read_model(argv[1]);
        auto machine = resolve_machine(read_machine_profile(argv[2]));
        TrainingSpec t; t.batch = atoi(argv[3]); t.sequence = atoi(argv[4]); if (argc > 5) t.schedule = Schedule::megatrain;
        auto plan = plan_step(model, machine, t);
        auto fit = check_fit(plan, machine, t);
        auto s = simulate_step(plan, machine, t);
        auto lanes = lane_times(plan.program, s.operations, s.step);
        fmt::print("step {} first {} steps {} device {} host {} between {}\n", s.step, s.first_step, s.steps, fit.device.peak.bytes / 1e9, fit.host.peak.bytes / 1e9, plan.memory.host_between_steps / 1e9);
        for (int i = 0; i < kLaneCount; ++i) fmt::print("{} busy {} exposed {} ops {}\n", lane_name(Lane(i)), lanes[i].busy, lanes[i].exposed, lanes[i].operations);
    } catch (const InputError& e) { fmt::print(stderr, "{}\n", e.what()); return 2; }
}
