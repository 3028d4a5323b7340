// Which sentences follow from a comparison: limits, who is faster, what would fit, assumptions?
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"

namespace sluice {

/// The lane with the largest share of the step's critical path, and that share.
std::pair<Lane, double> bound_of(const Prediction& report);

/// "device short 11.4 GB, host short 3.0 GB"; empty if the step fits.
std::string short_by(const Prediction& report);

/// Fields and values of the options that the schedule has. Leaves out schedule, batch, seq, and
/// options with value 0, which the schedule or the machine decides.
using Settings = std::vector<std::pair<std::string, std::string>>;
Settings own_settings(const TrainingSpec& training);
/// The options that the schedule has and that differ from their defaults, but for schedule, batch
/// and seq.
Settings changed_own_settings(const TrainingSpec& training);
/// The same, and those with which its users run it where a prediction has these.
Settings shown_settings(const Prediction& report);
/// "buffer_depth 2, recompute full"; "default settings" for none.
std::string settings_text(const Settings& settings);

/// The precision of a system's parameters and moments: "fp32 master + fp32 moments".
std::string states_of(const TrainingSpec& training);

/// "zero3-offload: in micro-batches of 4, the largest that fits; with 32 at once the device is 14.3
/// GB short". Empty if the micro-batch was not chosen for the memory.
std::string micro_batch_words(const ComparedSystem& system);

/// The settings that turn a scenario into this system: the schedule, and either its chosen plan or
/// the micro-batch and place of checkpoints that were chosen to make its batch fit.
std::vector<Setting> system_settings(const ComparedSystem& system);

/// One line per memory that is short, and the settings that would fit. Precondition: the system
/// does not fit.
std::vector<std::string> misfit_words(const Comparison& comparison, const ComparedSystem& system,
                                      const BytesText& bytes = format_bytes);

/// Systems that fit but that findings do not count, with the reasons; "" if there are none.
std::string not_today(const Comparison& comparison);

/// Which systems are faster than ours, or that none is. If ours is not compared, does not fit or
/// does not run today: the fastest system. Nothing of this for one system. Then not_today().
std::vector<std::string> verdict(const Comparison& comparison);

/// Each other system's relative speed at the first and the last layer count at which it fits.
/// Precondition: all comparisons have the same systems.
std::vector<std::string> trend(std::span<const Comparison> comparisons);

/// An assumption, and the systems whose predictions depend on it.
struct SharedAssumption {
    std::string sentence;
    std::vector<std::string> systems;
};
/// Each assumption once, in order of first mention.
std::vector<SharedAssumption> shared_assumptions(const Comparison& comparison);

/// The options that differ from their defaults; always with batch and sequence.
std::vector<Setting> settings_beside_defaults(const TrainingSpec& training);
/// The same as flags.
std::string settings_flags(const TrainingSpec& training);

/// Groups of systems with the same assumptions, in order of first mention.
using GroupedAssumptions =
    std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>;
GroupedAssumptions grouped_assumptions(const Comparison& comparison);

}  // namespace sluice
