// A small untied model of eight layers, and our schedule's plans of it.
#pragma once

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice::test {

inline constexpr double kLayerOfEight = 2'622'464;  // parameters

inline ModelSpec eight_layers() {
    return parse_generic_model(
        "layers=8,hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000,tied=0");
}

inline StepPlan eight_layer_plan(const TrainingSpec& spec) {
    check_training_spec(spec);
    return plan_step(eight_layers(), resolve_machine(read_machine_profile("h200-sxm-pcie5")), spec);
}

}  // namespace sluice::test
