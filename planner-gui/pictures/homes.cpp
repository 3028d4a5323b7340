#include "planner-gui/pictures/homes.h"

#include <algorithm>

#include "planner-gui/pictures/memory_stack.h"
#include "sim/base/format.h"

namespace sluice {

std::optional<Setting> moved_home(const TimedPlan& before, const TimedPlan& now) {
    const AskedStep &one = before.asked, &other = now.asked;
    if (one.model_name != other.model_name || one.layers != other.layers ||
        one.tied_embeddings != other.tied_embeddings || one.machine_id != other.machine_id ||
        one.machine_changes != other.machine_changes ||
        before.plan.host_capacity != now.plan.host_capacity)
        return std::nullopt;
    const std::vector<Setting> differ = changed_settings(other.training, one.training);
    if (differ.size() != 1 || std::ranges::find(home_options(), differ.front().field,
                                                &Option::field) == home_options().end())
        return std::nullopt;
    return differ.front();
}

std::string home_words(const TimedPlan& now, const TimedPlan* before) {
    std::string words = format_seconds(now.step.seconds) + " a step";
    if (!now.plan.fit.fits()) words += " if memory were enough";
    if (before == nullptr) return words;
    const std::optional<Setting> moved = moved_home(*before, now);
    if (!moved) return words;
    words += ", was " + format_seconds(before->step.seconds) + " with " + setting_words({*moved});
    if (!before->plan.fit.fits()) words += ", which did not fit";
    return words;
}

Placement homes_of(const ModelSpec& model, const TrainingSpec& training) {
    return training.schedule->ours ? placement_of(model, training) : Placement();
}

Table homes_table(const TimedPlan& report) {
    Table out{{{"memory", "memory"}, {"home", "home"}, {"bytes", "bytes", Unit::bytes}}};
    for (const MemoryStack& stack : memory_stacks(report, Segments::homes)) {
        for (const MemorySegment& segment : stack.segments)
            out.rows.push_back({{stack.name, segment.name, segment.bytes}});
        out.rows.push_back({{stack.name, "all", stack.used}});
    }
    return out;
}

std::int64_t resident_up_to(int layer, const TrainingSpec& training) {
    return training.resident_layers == layer + 1 ? layer : layer + 1;
}

}  // namespace sluice
