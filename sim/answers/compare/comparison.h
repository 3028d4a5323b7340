// How do all systems train one model on one machine with the same batch? Where that does not fit at
// once and --micro-batch is not given, a system takes the largest micro-batch that fits; the
// streamed one, whose checkpoints are of the whole batch, then keeps them on the host. Plain
// values; see the writers in answer_reports.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct ComparedSystem {
    std::string name;   ///< of its schedule, or "8 x h100-sxm-pcie5"
    Prediction report;  ///< with its band or, where it does not fit, what would
    /// Bytes by which device or shared memory is short of the batch at once, where `report` is of
    /// micro-batches or checkpoints on the host that were chosen for that; else 0.
    Bytes short_of_whole_batch = 0;
    /// With the first of report.suggestions; only where there is one.
    std::optional<double> suggested_tokens_per_s;

    bool fits() const { return report.plan.fit.fits(); }
};

/// One model, machine, batch and sequence. Precondition of what takes one: `systems` is not empty.
struct Comparison {
    std::vector<ComparedSystem> systems;
    /// A sentence for each system that could not be compared.
    std::vector<std::string> left_out = {};

    /// What is the same in all reports: model, machine, batch.
    const Prediction& shared() const { return systems.front().report; }
    /// The streamed schedule, where it is compared and fits: the 1.00x of relative speeds.
    const ComparedSystem* ours() const;
};

/// tokens_per_s of that of ours; nothing where ours is not compared or does not fit.
std::optional<double> relative_to_ours(const Comparison& comparison, double tokens_per_s);
/// The same of a system, and nothing where that does not fit.
std::optional<double> relative_speed(const Comparison& comparison, const ComparedSystem& system);

/// GPUs that train together in device memory, beside the machine that is asked for.
struct ClusterToCompare {
    MachineSpec machine;
    std::int64_t gpus = 1;
    const MachineProfile* prices = nullptr;  ///< of an hour, as in Wanted
};

/// The schedules of one machine, in the order of their table.
std::vector<Schedule> all_schedules();
/// Those of them for which the machine has what they need, a known storage among it.
std::vector<Schedule> schedules_of(const MachineSpec& machine);
/// Why the others of them are left out, a sentence each.
std::vector<std::string> left_out(const MachineSpec& machine);
/// "streamed,megatrain"; throws InputError where a name is unknown, empty or twice.
std::vector<Schedule> parse_schedules(const std::string& names);

/// `asked` with another schedule: its own defaults for options that it does not have. Throws
/// InputError where the rest breaks a rule.
TrainingSpec training_of(Schedule schedule, const TrainingSpec& asked);

/// Predicts a step of every schedule, then of every cluster with the same batch; options that one
/// does not have are left at its own, and a micro-batch is at most a GPU's part of the batch.
/// `prices` are those of the machine, as in Wanted. Throws InputError, also where an option was
/// changed that none of them has.
Comparison compare(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                   const std::vector<Schedule>& schedules,
                   const std::vector<ClusterToCompare>& clusters = {},
                   const MachineProfile* prices = nullptr);

}  // namespace sluice
