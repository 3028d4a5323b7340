#include "sim/plan/schedules/schedules.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/step_program.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

constexpr std::string_view kOptionsOfAll[] = {
    "schedule", "batch", "micro_batch", "seq", "device_budget_bytes", "host_budget_bytes"};

template <typename Predicate>
const ScheduleRecord& record_where(Predicate predicate) {
    const auto& table = schedule_table();
    const auto found = std::find_if(table.begin(), table.end(), predicate);
    if (found == table.end()) throw InternalError("schedules: no schedule has that property");
    return *found;
}

}  // namespace

const std::vector<ScheduleRecord>& schedule_table() {
#define SLUICE_RECORD(name) name##_schedule(),
    static const std::vector<ScheduleRecord> table = {SLUICE_SCHEDULES(SLUICE_RECORD)};
#undef SLUICE_RECORD
    return table;
}

Schedule::Schedule(std::string_view name)
    : record_(&record_where([&](const ScheduleRecord& one) { return one.name == name; })) {}

Schedule schedule_with(bool ScheduleRecord::*property) {
    return Schedule(record_where([&](const ScheduleRecord& one) { return one.*property; }));
}

bool has_option(Schedule schedule, std::string_view field) {
    const auto is_it = [&](std::string_view one) { return one == field; };
    return std::ranges::any_of(kOptionsOfAll, is_it) ||
           std::ranges::any_of(schedule->options, is_it) ||
           (schedule->ours && std::ranges::any_of(home_options(), is_it, &Option::field)) ||
           std::ranges::any_of(schedule->own_options, is_it, &Option::field);
}

bool has_option(Schedule schedule, const Option& option) {
    return has_option(schedule, option.field);
}

std::vector<Phase> plain_phases() {
    using At = StepMark::At;
    const StepMark start{At::earliest_start}, end{At::earliest_start, {}, true};
    const StepMark backward{At::first_start, OperationKind::backward};
    const StepMark clip{At::first_start, OperationKind::clip_gradients};
    return {
        {"forward", start, backward}, {"backward", backward, clip}, {"optimizer_step", clip, end}};
}

}  // namespace sluice
