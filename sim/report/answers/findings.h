// What does a comparison say in words: what limits a system, who is faster, what would fit, what
// all of it assumes?
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

/// "device short 11.4 GB, host short 3.0 GB"; empty where it fits.
std::string short_by(const Prediction& report);

/// Field and value of the options that a schedule has, but for schedule, batch and seq, and for
/// what is left at 0, which leaves it to the schedule or the machine.
using Settings = std::vector<std::pair<std::string, std::string>>;
Settings own_settings(const TrainingSpec& training);
/// "buffer_depth 2, recompute full".
std::string settings_text(const Settings& settings);

/// The precision in which a system keeps parameters and moments: "fp32 master + fp32 moments".
std::string states_of(const TrainingSpec& training);

/// "zero3-offload: in micro-batches of 4, the largest that fits; with 32 at once the device is 14.3
/// GB short"; empty where a system's micro-batch was not chosen so.
std::string micro_batch_words(const ComparedSystem& system);

/// The settings that make a scenario's system this one: the schedule, with the micro-batches
/// and the place of checkpoints that were chosen so that its batch fits.
std::vector<Setting> system_settings(const ComparedSystem& system);

/// What is short, a line a memory, and what would fit. Precondition: the system does not fit.
std::vector<std::string> misfit_words(const Comparison& comparison, const ComparedSystem& system,
                                      const BytesText& bytes = format_bytes);

/// Who is faster than ours, or that nobody is; where ours is not compared or does not fit, who is
/// fastest. Empty for one system.
std::vector<std::string> verdict(const Comparison& comparison);

/// Each other system's relative speed at the first and the last of the layer counts at which it
/// fits. Precondition: the same systems in all.
std::vector<std::string> trend(std::span<const Comparison> comparisons);

/// A sentence on which the reports of these systems rest.
struct SharedAssumption {
    std::string sentence;
    std::vector<std::string> systems;
};
/// Each sentence once, in order of first mention.
std::vector<SharedAssumption> shared_assumptions(const Comparison& comparison);

/// The options that differ from their defaults, as flags, batch and sequence always.
std::string settings_flags(const TrainingSpec& training);

/// The systems that rest on the same sentences, with these, in order of first mention.
using GroupedAssumptions =
    std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>;
GroupedAssumptions grouped_assumptions(const Comparison& comparison);

}  // namespace sluice
