// What is particular to a schedule: whose order of operations a step has? Each file of
// sim/plan/schedules makes the record of its schedule, and schedules.cpp there lists them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

struct MachineSpec;
struct ModelSpec;
struct Option;
struct StepPlan;
struct TrainingSpec;
enum class OperationKind : std::uint8_t;

/// A moment of a step.
struct StepMark {
    enum class At : std::uint8_t { zero, earliest_start, first_start, first_end, compute_end };
    At at;
    OperationKind kind = {};  ///< of first_start and first_end
    bool next_step = false;   ///< a whole step later
};

/// A part of a step, as its system times itself.
struct Phase {
    std::string_view name;
    StepMark begin, end;
};

struct ScheduleRecord {
    const char* name;  ///< as flags and files give it
    /// The program that is measured for it, as rows of measurements name it; empty: none.
    const char* measured_system = "";
    StepPlan (*plan)(const ModelSpec&, const MachineSpec&, const TrainingSpec&);
    /// Fields of the options that it has; beside those that every schedule has.
    std::vector<std::string_view> options;
    /// Recomputes by torch.utils.checkpoint, which keeps a layer's input alone.
    bool keeps_inputs_alone = false;
    const char* master = "fp32";
    const char* moments = "fp32";  ///< with the default of state_bytes, where it has that option
    /// What sluice-train runs. Others are compared with it, and its work on the host is calibrated.
    bool ours = false;
    bool several_gpus = false;
    bool needs_storage = false;
    /// What the plan leaves out, of the step's time: 5 to 95% is 1 +- this.
    double structural_error;
    std::vector<Phase> phases;
};

/// All records, in the order shown; ours is the first.
const std::vector<ScheduleRecord>& schedule_table();

/// One of the table.
class Schedule {
  public:
    Schedule() : record_(schedule_table().data()) {}
    explicit Schedule(const ScheduleRecord& of_table) : record_(&of_table) {}
    /// Throws InternalError where no schedule has that name.
    explicit Schedule(std::string_view name);

    const ScheduleRecord* operator->() const { return record_; }
    const ScheduleRecord& operator*() const { return *record_; }
    friend bool operator==(const Schedule&, const Schedule&) = default;
    int index() const { return static_cast<int>(record_ - schedule_table().data()); }

  private:
    const ScheduleRecord* record_;
};

/// The first schedule with that property. Throws InternalError where none has it.
Schedule schedule_with(bool ScheduleRecord::*property);

/// Whether a schedule has an option; one that it does not have must be left at its default.
bool has_option(Schedule schedule, const Option& option);
bool has_option(Schedule schedule, std::string_view field);

}  // namespace sluice
