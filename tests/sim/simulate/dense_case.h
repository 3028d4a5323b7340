// A model, a machine and settings for tests that work with any model that fits.
#pragma once

#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice::test {

struct DenseCase {
    ModelSpec model = parse_generic_model("layers=12,hidden=4096");
    MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb"));
    TrainingSpec training;

    Prediction predicted() const { return predict(model, machine, training); }
};

}  // namespace sluice::test
