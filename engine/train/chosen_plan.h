// Which plan does the planner, a program of its own beside this one, choose for a machine?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/device/device.h"
#include "engine/train/expected_step.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

enum class PlanSearch : std::uint8_t { none, fastest };

/// The fastest plan with the options that were given, as `sluice predict` chooses it, or their
/// prediction where nothing is searched. Host memory:
/// as given, else no more than there is here. Prints it. Throws InputError
/// if the planner is not in the folder of this program, or if it refuses the scenario, for which it
/// says the reason on standard error itself.
ExpectedStep choose_step(PlannedScenario asked, PlanSearch search,
                         const std::optional<std::string>& host_memory);

/// A machine of the library for a GPU, by the name that its driver gives, beside so many CPUs.
struct MachineChoice {
    std::optional<std::string> machine;  ///< empty: none has that GPU
    std::string because;                 ///< or what to give instead; a sentence
};
MachineChoice machine_for(const std::string& gpu, double cpus);

/// choose_step() for the machine of the library that is like this one, with the host memory that is
/// here; prints which one, or why the plan stays as asked. Empty where it does: training on the
/// processor, no such machine, no planner beside this program.
std::optional<ExpectedStep> choose_step_here(PlannedScenario asked, PlanSearch search,
                                             const DeviceFacts& device,
                                             const std::optional<std::string>& host_memory);

}  // namespace sluice
