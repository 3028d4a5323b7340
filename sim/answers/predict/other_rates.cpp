#include "sim/answers/predict/other_rates.h"

#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

// Finest just below 1: a host of the kind updated 8-byte states at 0.74 of the profile's rate.
constexpr double kFactors[] = {0.5, 0.65, 0.8, 0.9, 1.15, 1.5};

HostRates host_rates(const MachineSpec& machine, const TrainingSpec& training) {
    const double threads = optimizer_threads(machine, training);
    return {
        machine.host.adam_of(training.state_bytes).at(threads) / adam_traffic(training.state_bytes),
        machine.link.host_to_device, machine.link.device_to_host};
}

}  // namespace

OtherRates at_other_rates(const TimedPlan& timed, const MachineSpec& machine) {
    const TrainingSpec& training = timed.asked.training;
    OtherRates out{host_rates(machine, training), {}};
    for (const RateGroup group : {RateGroup::optimizer, RateGroup::link})
        for (const double factor : kFactors) {
            MachineSpec scaled = machine;
            scale_group(scaled, group, factor);
            out.steps.push_back({group, factor, quick_step(timed.plan, scaled, training).step});
        }
    return out;
}

}  // namespace sluice
