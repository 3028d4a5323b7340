// The machine and the models whose plans the tests of the choice know.
#pragma once

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice::test {

inline MachineSpec h200() {
    return resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
}

inline ModelSpec eight_layers() {
    return read_model(PlannedModel{.model = "qwen2.5-7b", .layers = "8"});
}

inline TrainingSpec batch_of(std::int64_t batch) {
    TrainingSpec out;
    out.batch = batch;
    return out;
}

}  // namespace sluice::test
