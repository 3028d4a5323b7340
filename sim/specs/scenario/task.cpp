#include "sim/specs/scenario/task.h"

#include <fmt/format.h>

#include "sim/base/input_error.h"

namespace sluice {

const char* task_name(Task task) { return task == Task::pretrain ? "pretraining" : "fine-tuning"; }

Task read_task(const std::string& name, const std::string& where) {
    for (const Task task : {Task::full_fine_tune, Task::pretrain})
        if (name == task_name(task)) return task;
    throw InputError(fmt::format("{} is \"{}\", expected {} or {}", where, name,
                                 task_name(Task::full_fine_tune), task_name(Task::pretrain)),
                     "task");
}

}  // namespace sluice
