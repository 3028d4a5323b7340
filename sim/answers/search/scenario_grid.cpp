#include "sim/answers/search/scenario_grid.h"

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

std::size_t ScenarioGrid::group_size() const {
    std::size_t size = 1;
    for (const OptionAxis& axis : choices)
        size = std::min(size * axis.values.size(), kMostScenarios + 1);
    return size;
}

std::size_t ScenarioGrid::size() const {
    double size = static_cast<double>(models.size() * machines.size());
    for (const std::vector<OptionAxis>* axes : {&questions, &choices})
        for (const OptionAxis& axis : *axes) size *= static_cast<double>(axis.values.size());
    if (size > static_cast<double>(kMostScenarios))
        throw InputError(
            fmt::format("the sweep has {:.3g} combinations, expected at most {}; give fewer values",
                        size, kMostScenarios));
    return static_cast<std::size_t>(size);
}

GridPoint ScenarioGrid::at(std::size_t index) const {
    const auto digit = [&index](std::size_t count) {
        const std::size_t value = index % count;
        index /= count;
        return value;
    };
    std::vector<std::pair<const Option*, double>> settings;  // the last axis first
    for (const std::vector<OptionAxis>* axes : {&choices, &questions})
        for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis)
            settings.emplace_back(axis->option, axis->values[digit(axis->values.size())]);
    GridPoint point;
    point.training = base;
    for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting)
        setting->first->set(point.training, setting->second);
    point.machine = &machines[digit(machines.size())];
    point.model = &models[digit(models.size())];
    if (rule) point.against_rule = rule(point.training);
    return point;
}

std::vector<std::string> split_list(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(',', start), list.size());
        parts.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

OptionAxis parse_axis(const Option& option, const std::string& values, const std::string& where) {
    OptionAxis axis{&option, {}};
    for (const std::string& value : split_list(values)) {
        if (value.empty())
            throw InputError(
                fmt::format("{} is \"{}\", which has an empty value; give values between commas",
                            where, values));
        TrainingSpec training;
        set_option(training, option, value, where);
        const double number = option.get(training);
        if (std::find(axis.values.begin(), axis.values.end(), number) != axis.values.end())
            throw InputError(fmt::format("{} is {}, which has {} twice; give each value once",
                                         where, values, value));
        axis.values.push_back(number);
    }
    return axis;
}

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
