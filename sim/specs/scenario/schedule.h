// Which facts describe a schedule, the system whose order of operations a step has? Each file of
// sim/plan/schedules makes the record of its schedule, and schedules.cpp there lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/specs/scenario/option.h"

namespace sluice {

struct MachineSpec;
struct ModelSpec;
struct StepPlan;
enum class OperationKind : std::uint8_t;

/// A moment of a step.
struct StepMark {
    enum class At : std::uint8_t { zero, earliest_start, first_start, first_end, compute_end };
    At at;
    OperationKind kind = {};  ///< of first_start and first_end
    bool next_step = false;   ///< one whole step later
};

/// A phase of a step, as its system times itself.
struct Phase {
    std::string_view name;
    StepMark begin, end;
};

/// A program that executes a schedule today.
struct Program {
    const char* name;
    std::vector<std::string_view> gpu_makers;  ///< of the GPUs on which a run is known
    /// A part of the model that it does not train on GPUs of that maker ("mixture of experts"), or
    /// ""; null: it trains all models.
    std::string (*lacks)(const ModelSpec& model, std::string_view gpu_maker) = nullptr;
    /// The same of the settings ("weights streamed in FP8").
    std::string (*lacks_setting)(const TrainingSpec& training, const ModelSpec& model,
                                 const MachineSpec& machine) = nullptr;
    const char* source;
    const char* date;  ///< on which the source was read
};

struct ScheduleRecord {
    const char* name;   ///< as flags and files give it
    const char* about;  ///< what it does and what it trades, in one sentence
    /// The measured program, as named in rows of measurements; empty: none.
    const char* measured_system = "";
    /// As plan_memory().
    StepPlan (*plan)(const ModelSpec&, const MachineSpec&, const TrainingSpec&);
    /// Fields of shared options that it has; all have some, and ours has those of homes.
    std::vector<std::string_view> options;
    std::vector<Option> own_options = {};  ///< that no other schedule has
    Program program;
    /// Recomputes by torch.utils.checkpoint, which keeps only a layer's input.
    bool keeps_inputs_alone = false;
    std::int64_t master_bytes = 4;   ///< of a parameter
    std::int64_t moments_bytes = 8;  ///< of a parameter, unless the option state_bytes says it
    /// The schedule of sluice-train. Others are compared with it, and its work on the host is
    /// calibrated.
    bool ours = false;
    bool several_gpus = false;
    /// GPUs take turns at stages, each for all micro-batches: their count need not be a multiple of
    /// the GPUs', and the last ones may be smaller.
    bool gpus_take_turns = false;
    bool needs_storage = false;
    /// Fields and values with which its users run it: the program's defaults and those of its
    /// examples, from the source that a comment names. Ours runs the plan that is chosen.
    std::vector<std::pair<std::string_view, std::string_view>> users_run;
    /// The part of the step time that the plan leaves out: 5 to 95% is 1 +- this.
    double structural_error;
    std::vector<Phase> phases;
};

/// All records, in the order of display; ours is the first.
const std::vector<ScheduleRecord>& schedule_table();

/// One of the table.
class Schedule {
  public:
    Schedule() : record_(schedule_table().data()) {}
    explicit Schedule(const ScheduleRecord& of_table) : record_(&of_table) {}
    /// Throws InternalError if no schedule has that name.
    explicit Schedule(std::string_view name);

    const ScheduleRecord* operator->() const { return record_; }
    const ScheduleRecord& operator*() const { return *record_; }
    friend bool operator==(const Schedule&, const Schedule&) = default;
    int index() const { return static_cast<int>(record_ - schedule_table().data()); }

  private:
    const ScheduleRecord* record_;
};

/// The first schedule with that property. Throws InternalError if none has it.
Schedule schedule_with(bool ScheduleRecord::*property);

/// Whether a schedule has an option; an option that it does not have must keep its default.
bool has_option(Schedule schedule, const Option& option);
bool has_option(Schedule schedule, std::string_view field);

}  // namespace sluice
