// A project with a scenario that can be planned and one with mistakes.
#pragma once

#include "sim/specs/scenario/project_file.h"

namespace sluice::test {

inline Project example_project() {
    Project out;
    PlannedScenario a;
    a.name = "120 B on one H200";
    a.notes = "first line\nsecond \"line\"";
    a.model = {"120b", "40", true};
    a.machine = {"h200-sxm-pcie5-1.5tb", "512GB", {"link.host_to_device_gb_per_s=100"}};
    a.training = {{"batch", "64"}, {"schedule", "streamed"}, {"device_budget_bytes", "80GB"}};
    a.money = {{"tokens", "2e9"}, {"offer", "Nebius"}};
    PlannedScenario b;
    b.name = "mistakes are kept: ü";
    b.model.model = "no-such-model";
    b.machine.machine = "gh200-480gb";
    b.training = {{"batch", "many"}};
    out.scenarios = {a, b};
    out.current = 1;
    return out;
}

}  // namespace sluice::test
