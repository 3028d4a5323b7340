// A scenario for tests that work with any.
#pragma once

#include <string>

#include "sim/specs/scenario/scenario.h"

namespace sluice::test {

/// 8 layers of a 7 B model, which fit; its name says the batch ("batch 16").
inline PlannedScenario small_scenario(int batch = 16,
                                      const std::string& machine = "h200-sxm-pcie5-1.5tb") {
    PlannedScenario out;
    out.name = "batch " + std::to_string(batch);
    out.model.model = "qwen2.5-7b";
    out.model.layers = "8";
    out.machine.machine = machine;
    out.training = {{"batch", std::to_string(batch)}};
    return out;
}

}  // namespace sluice::test
