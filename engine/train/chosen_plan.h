// Which plan does the planner choose for a machine?
#pragma once

#include <optional>
#include <string>

#include "engine/device/device.h"
#include "engine/train/predicted_step.h"

namespace sluice {

/// The plan with the options that were given and these settings for the others, as `sluice predict`
/// predicts it. Host memory: as given, else no more than there is here. Prints it. Throws
/// InputError as predicted_step() does.
ExpectedStep choose_step(PlannedScenario asked, SettingsOf settings,
                         const std::optional<std::string>& host_memory);

/// A machine of the library for a GPU, by the name that its driver gives, beside so many CPUs.
struct MachineChoice {
    std::optional<std::string> machine;  ///< empty: none has that GPU
    std::string because;                 ///< or what to give instead; a sentence
};
MachineChoice machine_for(const std::string& gpu, double cpus);

/// choose_step() for the machine of the library that is like this one, with the host memory that is
/// here; prints which one, or why the plan stays as asked. Empty where it does: training on the
/// processor, no such machine, a program without the planner.
std::optional<ExpectedStep> choose_step_here(PlannedScenario asked, SettingsOf settings,
                                             const DeviceFacts& device,
                                             const std::optional<std::string>& host_memory);

}  // namespace sluice
