// Which recomputation, micro-batches and places of tensors make a schedule's step fastest on this
// machine?
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/scenario/price.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

/// Beside which part of a node are plans billed that take more?
enum class BillBase : std::uint8_t {
    least_part,  ///< that of the settings as asked; one GPU where they do not fit
    fastest,     ///< that of the fastest plan that keeps nothing more on the host
};

/// The fastest training that fits the machine with the given batch, sequence, states and schedule.
/// Options of `fixed`, by their fields, keep their values. Simulates only steps whose bound is
/// faster than the best so far (step_bounds.h), and ends most others early. Leaves room
/// (Fit::leaves_room) where a plan can. If nothing fits, the choice is the given training. A plan
/// takes a larger part of its node than `base` only where a token gets no dearer: by the typical
/// rent of `prices`, or by the GPUs of that part where no rent holds it. Who owns the node pays
/// no more for a larger part of it. Throws InputError if the training breaks a rule.
PlanChoice fastest_plan(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, const std::set<std::string>& fixed,
                        const PriceList& prices = {}, BillBase base = BillBase::least_part);
/// Whether that finds a plan, in a fraction of the time.
bool any_plan_fits(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   const std::set<std::string>& fixed, const PriceList& prices = {});
/// The fastest, too, but a plan for --clipping auto may give up a little in steps that clip, for
/// those that do not (step_ahead.h), and clips speculatively where no other plan fits. A fixed
/// recomputation fixes what layers keep, too. Throws InputError if model, machine and training are
/// not valid together.
PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed,
                       const PriceList& prices = {}, BillBase base = BillBase::least_part);
/// Whether it finds a plan, in a fraction of the time. Throws InputError as that does.
bool may_choose_plan(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, const std::set<std::string>& fixed,
                     const PriceList& prices = {});

/// The order of plans of different systems, best first: optimizer states in full precision, then
/// the time of a step. A system that rounds its states does another training, and is no faster way
/// to do this one.
inline std::pair<bool, Seconds> precision_then_time(const TrainingSpec& training, Seconds step) {
    return {!bytes_of_states(training).full(), step};
}

}  // namespace sluice
