#include "sim/specs/scenario/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {

std::span<const TaskRecord> task_table() {
    static constexpr TaskRecord kTable[] = {
        // 128 sequences of 4,096 tokens, Tulu 3 (Lambert et al. 2024, arXiv:2411.15124).
        {Task::full_fine_tune, "fine-tuning", 524'288},
        // GPT-3 with 13 B parameters (Brown et al. 2020, table 2.1).
        {Task::pretrain, "pretraining", 1'048'576}};
    return kTable;
}

const TaskRecord& task_record(Task task) {
    return *std::ranges::find(task_table(), task, &TaskRecord::task);
}

std::string step_tokens_text(Task task) {
    return format_thousands(static_cast<double>(task_record(task).tokens_of_a_step));
}

Task read_task(const std::string& name, const std::string& where) {
    std::vector<std::string> names;
    for (const TaskRecord& one : task_table()) {
        if (name == one.name) return one.task;
        names.emplace_back(one.name);
    }
    throw InputError(
        fmt::format("{} is \"{}\", expected {}", where, name, fmt::join(names, " or ")), "task");
}

}  // namespace sluice
