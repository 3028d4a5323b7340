// Real predictions for the tests of pages and pictures.
#pragma once

#include <memory>

#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice::test {

inline TrainingSpec batch_of(std::int64_t batch, std::int64_t sequence = 1024) {
    TrainingSpec training;
    training.batch = batch;
    training.sequence = sequence;
    return training;
}

inline MachineSpec machine_of(const std::string& name) {
    return resolve_machine(read_machine_profile(name));
}

inline std::shared_ptr<const Prediction> predicted(const std::string& model,
                                                   const std::string& machine,
                                                   const TrainingSpec& training) {
    return std::make_shared<const Prediction>(
        predict(read_model(model), machine_of(machine), training));
}

}  // namespace sluice::test
