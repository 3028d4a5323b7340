// A model, a machine with a drive, and training by ZeRO-Infinity.
#pragma once

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice::test {

/// An H200 with a drive that reads 8 and writes 4 GB/s.
inline MachineSpec machine_with_storage() {
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5");
    profile.set("storage.read_gb_per_s", 8);
    profile.set("storage.write_gb_per_s", 4);
    return resolve_machine(profile);
}

inline TrainingSpec infinity(std::int64_t sub_group = 0) {
    TrainingSpec training;
    training.schedule = Schedule("zero-infinity");
    training.batch = 1;
    training.sub_group_elements = sub_group;
    return training;
}

inline ModelSpec four_layers_of_7b() {
    ModelSpec model = read_model("qwen2.5-7b");
    model.tied_embeddings = false;
    truncate_layers(model, 4);
    return model;
}

}  // namespace sluice::test
