// Does a plan train the same whatever the order in which its operations complete? A trial draws a
// plan from a seed, runs it on a LateDevice, and compares each bit with the plainest plan's run in
// the plain order.
#pragma once

#include <string>

#include "tests/engine/run/late_device.h"
#include "tests/engine/run/tiny_training.h"

namespace sluice {

/// A run of a few steps. Two that differ in `training`'s places alone must not differ in a bit.
struct TrialSubject {
    ModelSpec model;
    TrainingSpec training;
    DType activations = DType::fp32;
    bool spoiled = false;      ///< a weight is not a number, so that nothing may be updated
    unsigned clipped = 0;      ///< bit i: step i is clipped
    unsigned ahead = 0;        ///< bit i: with --clipping auto, step i expects that it is not
    unsigned evaluated = 0;    ///< bit i: a loss without training comes after step i
    std::string text() const;  ///< as flags
    /// One step, from 0; norms are above the smaller limit at first.
    StepOutcome run_step(TinyTraining& training, int step) const;
};

inline constexpr int kTrialSteps = 3;

struct TrialResult {
    std::vector<double> numbers;  ///< of each step: loss, norm, factor, loss of the evaluation
    std::string state;            ///< masters and moments at the end
    bool operator==(const TrialResult&) const = default;
};
/// Called after a step when all of it is done.
using AfterStep = std::function<void(int steps, double clip_factor, ParameterStore& store)>;
/// `clip_factor`: of the last of start.steps.
TrialResult run_subject(const TrialSubject& subject, const TinyStart& start = {},
                        const AfterStep& after = {}, double clip_factor = 1);

/// Masters, moments and their scales, without the gaps between tensors, which nobody reads.
std::string state_of_tensors(const ParameterStore& store);
void set_state_of_tensors(ParameterStore& store, const std::string& state);

/// The damage that is done before a trial.
struct TrialFaults {
    LateFaults device;
    std::function<void(StreamedPlan&)> plan = {};
};
/// Says what went wrong, the plan, and how to see it again; "" if nothing did.
std::string run_trial(std::uint64_t seed, const TrialFaults& faults = {});

/// The seed's plan, one of the whole space of plans.
TrialSubject trial_subject(std::uint64_t seed);
/// The plain plan's run of these numbers in the plain order.
const TrialResult& plain_result(std::uint64_t seed);
/// Another seed with the same numbers.
std::uint64_t same_numbers(std::uint64_t seed);
/// Lanes take turns on the device.
TinyStart start_on(const std::shared_ptr<LateDevice>& device);

}  // namespace sluice
