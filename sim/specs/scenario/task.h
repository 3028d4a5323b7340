// Which training is a run for? `sluice choose`, the start page and its projects name it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sluice {

enum class Task { pretrain, full_fine_tune };

struct TaskRecord {
    Task task;
    const char* name;               ///< as --task takes it
    std::int64_t tokens_of_a_step;  ///< as published runs have
};
/// The default first.
std::span<const TaskRecord> task_table();
const TaskRecord& task_record(Task task);
/// "pretraining", "fine-tuning".
inline const char* task_name(Task task) { return task_record(task).name; }
/// "524,288".
std::string step_tokens_text(Task task);
/// `where` is the flag or the field that names the task. Throws InputError with the field "task".
Task read_task(const std::string& name, const std::string& where);

}  // namespace sluice
