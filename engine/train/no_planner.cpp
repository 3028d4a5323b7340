#include <fmt/format.h>

#include "engine/train/predicted_step.h"
#include "sim/base/input_error.h"

namespace sluice {

bool built_with_planner() { return false; }

ExpectedStep predicted_step(const PlannedScenario& asked, SettingsOf) {
    throw InputError(
        fmt::format("--machine {}: this sluice-train was built without the planner; where that is, "
                    "write a plan with: sluice predict{} --json >plan.json, and give --plan "
                    "plan.json",
                    asked.machine.machine, scenario_flags(asked)),
        "machine");
}

}  // namespace sluice
