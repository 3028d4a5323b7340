#include "sim/report/answers/shared_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/compare/findings.h"

namespace sluice {

nlohmann::ordered_json settings_json(const TrainingSpec& training) {
    auto out = nlohmann::ordered_json::object();
    for (const Option& option : training_options()) {
        if (!has_option(training.schedule, option)) continue;
        if (option.choices.empty())
            out[option.field] = static_cast<std::int64_t>(option.get(training));
        else
            out[option.field] = option_text(training, option);
    }
    return out;
}

std::string settings_flags(const TrainingSpec& training) {
    const TrainingSpec standard;
    std::string out;
    for (const Option& option : training_options()) {
        const std::string_view field = option.field;
        const bool always = field == "batch" || field == "seq";
        if (!always && option.get(training) == option.get(standard)) continue;
        out += fmt::format("{}{} {}", out.empty() ? "" : " ", option_flag(option),
                           option_text(training, option));
    }
    return out;
}

GroupedAssumptions grouped_assumptions(const Comparison& comparison) {
    GroupedAssumptions out;
    for (SharedAssumption& assumption : shared_assumptions(comparison)) {
        auto group = std::find_if(out.begin(), out.end(), [&](const auto& known) {
            return known.first == assumption.systems;
        });
        if (group == out.end()) group = out.insert(group, {assumption.systems, {}});
        group->second.push_back(std::move(assumption.sentence));
    }
    return out;
}

}  // namespace sluice
