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
    unsigned evaluated = 0;    ///< bit i: a loss without training comes after step i
    std::string text() const;  ///< as flags
};

/// Everything that decides numbers: seeds of one group share it. Buffers are where they are by
/// default, and all is streamed.
TrialSubject plain_subject(std::uint64_t group);
/// The same numbers by another plan: any place of parameters, gradients and activations, any number
/// of buffers.
TrialSubject placed_subject(const TrialSubject& plain, std::uint64_t seed);

inline constexpr std::uint64_t kTrialGroups = 48;
inline constexpr int kTrialSteps = 3;

struct TrialResult {
    std::vector<double> numbers;  ///< of each step: loss, norm, factor, loss of the evaluation
    std::string state;            ///< masters and moments at the end
    bool operator==(const TrialResult&) const = default;
};
TrialResult run_subject(const TrialSubject& subject, const TinyStart& start = {});

/// The plain run of a group, run once.
struct TrialReference {
    TrialSubject subject;
    TrialResult result;
};
const TrialReference& trial_reference(std::uint64_t group);

/// What to damage before a trial.
struct TrialFaults {
    LateFaults device;
    std::function<void(StreamedPlan&)> plan = {};
};
/// What went wrong, the plan, and how to see it again; "" if nothing did.
std::string run_trial(std::uint64_t seed, const TrialFaults& faults = {});
/// The same for one plan, in the order of this seed.
std::string difference_in_order(const TrialSubject& subject, const TrialReference& expected,
                                std::uint64_t seed, const TrialFaults& faults = {});

}  // namespace sluice
