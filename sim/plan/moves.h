// Which other values of options are tried if memory is short or left? One table for all searches of
// nearby settings, of which each kind of home has its part.
#pragma once

#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// Tokens of a chunk of the feed-forward: its products are as quick as larger ones.
inline constexpr std::int64_t kFeedForwardChunk = 16384;

/// The specs that are changed.
struct Asked {
    const ModelSpec& model;
    const MachineSpec& machine;
    const TrainingSpec& training;
};

/// The training itself stays the same, or it becomes another one, which the user should decide.
enum class Effect { frees_memory, takes_memory, other_training };

/// An option and the values to try, the nearest first.
struct ValuesToTry {
    const char* field;
    /// The option whose values cost more speed: that of a kind of home precedes another.
    const char* before;
    std::vector<double> (*values)(const Asked&) = nullptr;  ///< null: fewer() than now
    Effect effect = Effect::frees_memory;
};

/// `from` halved down to none.
std::vector<double> fewer(std::int64_t from);

struct OptionChange {
    const Option* option;
    double value;
};

/// The changes with that effect on options that the schedule has. Changes that cost the least speed
/// or change the training least come first. They may break rules between options.
std::vector<OptionChange> changes_of(const Asked& asked, Effect effect);

}  // namespace sluice
