// Which training is a run for? `sluice choose`, the start page and its projects name it.
#pragma once

#include <string>

namespace sluice {

enum class Task { pretrain, full_fine_tune };
/// "pretraining", "fine-tuning"; as --task takes it.
const char* task_name(Task task);
/// `where` is the flag or the field that names the task. Throws InputError with the field "task".
Task read_task(const std::string& name, const std::string& where);

}  // namespace sluice
