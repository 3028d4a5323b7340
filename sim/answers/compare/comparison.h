// How do all systems train one model on one machine with the same batch? If asked, each takes its
// fastest plan, or the settings with which its users run it. With settings as given, if the batch
// does not fit and --micro-batch is not given, a system takes the largest micro-batch that fits;
// streamed, whose checkpoints are for the whole batch, then keeps them on the host. Plain values;
// answer_reports.h has the writers.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct ComparedSystem {
    std::string name;   ///< its schedule, or "8 x h100-sxm-pcie5"
    Prediction report;  ///< with its band or, if it does not fit, settings that would
    /// Bytes by which the whole batch does not fit into device or shared memory, if `report` has
    /// micro-batches or checkpoints on the host for that reason; else 0.
    Bytes short_of_whole_batch = 0;
    /// With the first of report.suggestions; absent if there is none.
    std::optional<double> suggested_tokens_per_s;

    bool fits() const { return report.plan.fit.fits(); }
    /// The speed of shorter sequences is not comparable, since their tokens are less work.
    /// Precondition: there is a suggestion.
    bool suggestion_keeps_sequence() const {
        return report.advice.suggestions.front().training.sequence ==
               report.asked.training.sequence;
    }
};

/// One model, machine, batch and sequence. Functions that take one require that `systems` is not
/// empty.
struct Comparison {
    std::vector<ComparedSystem> systems;
    /// Sentences on the systems that could not be compared.
    std::vector<std::string> left_out = {};
    bool planned_too = false;  ///< findings count systems that no program runs there today

    /// The part common to all reports: model, machine, batch.
    const Prediction& shared() const { return systems.front().report; }
    /// The streamed schedule if it is compared and fits; it is the 1.00x of relative speeds.
    const ComparedSystem* ours() const;
    /// Whether findings count a system that fits.
    bool counts(const ComparedSystem& system) const {
        return planned_too || system.report.asked.runs_today.runs();
    }
};

/// tokens/s over ours; empty if ours is not compared or does not fit.
std::optional<double> relative_to_ours(const Comparison& comparison, double tokens_per_s);
/// The same for a system; empty if it does not fit.
std::optional<double> relative_speed(const Comparison& comparison, const ComparedSystem& system);

/// GPUs that train together in device memory, in addition to the machine of the question.
struct ClusterToCompare {
    MachineSpec machine;
    std::int64_t gpus = 1;
    PriceList prices = {};  ///< as in Wanted
};

/// The schedules for one machine, in the order of their table.
std::vector<Schedule> all_schedules();
/// The schedules that the machine can run, which for some requires known storage.
std::vector<Schedule> schedules_of(const MachineSpec& machine);
/// "streamed,megatrain"; throws InputError if a name is unknown, empty or given twice.
std::vector<Schedule> parse_schedules(const std::string& names);

/// The schedules of a comparison, and sentences on those that are left out.
struct ComparedSchedules {
    std::vector<Schedule> schedules;
    std::vector<std::string> left_out = {};
};
/// Those that are named, else those that the machine can run. Where adapters alone are asked for,
/// without those that train all weights: their speed is another task's.
ComparedSchedules compared_schedules(const MachineSpec& machine, const TrainingSpec& asked,
                                     const std::optional<std::vector<Schedule>>& named = {});

/// `asked` with another schedule and its defaults for options that it does not have. Throws
/// InputError if the other options break a rule.
TrainingSpec training_of(Schedule schedule, const TrainingSpec& asked);

/// Predicts a step of every schedule, then of every cluster, with the same batch. A system ignores
/// other options that it does not have, and its micro-batch is at most a GPU's part of the batch.
/// `prices` are the machine's, and each system takes the plan `chosen_beside` given options, or the
/// settings `as_users_run`, as in Wanted. Throws InputError, also if none of the systems has a
/// changed option.
Comparison compare(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                   const ComparedSchedules& compared,
                   const std::vector<ClusterToCompare>& clusters = {}, const PriceList& prices = {},
                   const std::set<std::string>* chosen_beside = nullptr, bool as_users_run = false);

}  // namespace sluice
