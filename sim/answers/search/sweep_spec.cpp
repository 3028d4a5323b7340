#include "sim/answers/search/sweep_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

bool is_list(const JsonObject& root, std::string_view key) {
    return root.shown_value(key).starts_with('[');
}

/// A value or a list of them, joined by commas.
std::string values_text(const JsonObject& root, const std::string& key, bool of_texts) {
    if (!is_list(root, key)) return root.scalar_text(key);
    if (of_texts) return fmt::format("{}", fmt::join(root.texts(key), ","));
    constexpr std::int64_t kLargest = 1'000'000'000'000'000;
    return fmt::format("{}", fmt::join(root.integers(key, 0, kLargest), ","));
}

std::vector<std::string> texts_or_none(const JsonObject& root, std::string_view key) {
    if (!root.has(key)) return {};
    if (root.is_text(key)) return {root.text(key)};
    return root.texts(key);
}

/// Whether scenarios that differ in it answer different questions.
bool is_question(const Option& option) {
    return std::string_view(option.field) == "schedule" || std::string_view(option.field) == "seq";
}

}  // namespace

SweepSpec parse_sweep_spec(std::string_view text, const std::string& file) {
    const JsonObject root = JsonObject::parse(text, file);
    std::vector<std::string> known = {"models", "layers", "machines", "host_memory", "set"};
    for (const Option& option : training_options()) known.emplace_back(option.field);
    root.allow_only(known);
    SweepSpec spec;
    spec.models = texts_or_none(root, "models");
    spec.machines = texts_or_none(root, "machines");
    spec.settings = texts_or_none(root, "set");
    if (root.has("layers")) spec.layers = values_text(root, "layers", false);
    if (root.has("host_memory")) spec.host_memory = values_text(root, "host_memory", true);
    for (const Option& option : training_options()) {
        if (!root.has(option.field)) continue;
        const bool of_texts = !option.choices.empty() || option.is_memory;
        spec.options[option.field] = values_text(root, option.field, of_texts);
        spec.where[option.field] = root.where(option.field);
    }
    return spec;
}

ScenarioGrid grid_of_options(const SweepSpec& spec) {
    ScenarioGrid grid;
    for (const Option& option : training_options()) {
        const auto given = spec.options.find(option.field);
        if (given == spec.options.end()) continue;
        const auto where = spec.where.find(option.field);
        OptionAxis axis = parse_axis(
            option, given->second, where == spec.where.end() ? option_flag(option) : where->second);
        option.set(grid.base, axis.values.front());
        if (axis.values.size() == 1) continue;
        (is_question(option) ? grid.questions : grid.choices).push_back(std::move(axis));
    }
    return grid;
}

}  // namespace sluice
