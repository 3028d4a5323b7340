// Which settings does advise choose from?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/plan/moves.h"
#include "sim/specs/scenario/price.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// The given settings and the ones to choose.
struct AdviceRequest {
    TrainingSpec given;              ///< with the options in `fixed`; else its defaults
    std::set<std::string> fixed;     ///< fields that are not chosen
    std::int64_t most_batch = 1024;  ///< if the batch is chosen
    std::vector<std::int64_t> state_bytes = {12};  ///< that may be chosen
    PriceList prices;                              ///< of the machine, for choose_plan()
    double least_tokens_per_s = 0;
    double knee = 0.02;  ///< share of the best tokens/s that a smaller batch may lose
};

/// Whether the option changes only speed and memory, not the training itself.
bool is_free_choice(const Option& option);
/// Removes such options.
void forget_free_choices(PlannedScenario& planned);
/// Given options are fixed, all others are chosen. Throws InputError.
AdviceRequest advice_request(const PlannedScenario& planned);

/// The grid of one model on one machine; its only question is the batch. Chosen are, where the
/// schedule has them and they are not fixed:
///
/// - batch: 1, 2, 4, 8, then also the middle between two powers of two
///
/// - micro_batch: the batch in 1, 2, 4 or 8 equal parts
///
/// - buffer_depth: 1 to 3
///
/// - recompute: all; with full, keep_last_layers of a quarter, half or three quarters of the layers
///
/// - checkpoints: device, host
///
/// - checkpoint_interval: 1, 2, 4, 8
///
/// - state_bytes: those allowed
///
/// - optimizer_threads: the count that is fastest, and half of it
///
/// It has no resident layers and tables, which advise() chooses.
///
/// Combinations that it leaves out have a reason (ScenarioGrid::rule). Throws InputError where what
/// is fixed breaks a rule by itself.
ScenarioGrid advice_grid(const ModelSpec& model, const MachineSpec& machine,
                         const AdviceRequest& request);

/// Values of options that may be faster but change the numbers of a training: shown beside the best
/// settings, never chosen. FP8 first, then what gains with it.
std::vector<OptionChange> other_numbers(const AdviceRequest& request);

}  // namespace sluice
