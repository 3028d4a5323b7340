// Which options are tried at which other values, where memory is short or left? One table, for all
// that searches settings near those asked for.
#pragma once

#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// What is changed.
struct Asked {
    const ModelSpec& model;
    const MachineSpec& machine;
    const TrainingSpec& training;
};

/// The training stays the same but for speed and memory, or is another, which a user should decide
/// on.
enum class Effect { frees_memory, takes_memory, other_training };

/// One option at another value.
struct OptionChange {
    const Option* option;
    double value;
};

/// The changes of that effect to options that the schedule has; those that cost least speed or
/// change the training least come first. They may break rules between options.
std::vector<OptionChange> changes_of(const Asked& asked, Effect effect);

}  // namespace sluice
