#include "sim/answers/search/scenario_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

/// A value or a list of values, joined by commas.
std::string values_text(const JsonObject& root, const std::string& key, bool of_texts) {
    if (!root.is_list(key)) return root.scalar_text(key);
    if (of_texts) return fmt::format("{}", fmt::join(root.texts(key), ","));
    constexpr std::int64_t kLargest = 1'000'000'000'000'000;
    return fmt::format("{}", fmt::join(root.integers(key, 0, kLargest), ","));
}

std::vector<std::string> texts_or_none(const JsonObject& root, std::string_view key) {
    if (!root.has(key)) return {};
    if (root.is_text(key)) return {root.text(key)};
    return root.texts(key);
}

/// The parts of an optional list; an empty list gives one empty part.
std::vector<std::optional<std::string>> parts_of(const std::optional<std::string>& list) {
    if (!list) return {std::nullopt};
    const std::vector<std::string> parts = split_list(*list);
    return {parts.begin(), parts.end()};
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
    spec.lists.machine.settings = texts_or_none(root, "set");
    if (root.has("layers")) spec.lists.model.layers = values_text(root, "layers", false);
    if (root.has("host_memory"))
        spec.lists.machine.host_memory = values_text(root, "host_memory", true);
    for (const Option& option : training_options()) {
        if (!root.has(option.field)) continue;
        const bool of_texts = option.is_text();
        spec.lists.training[option.field] = values_text(root, option.field, of_texts);
        spec.where[option.field] = root.where(option.field);
    }
    return spec;
}

ScenarioGrid grid_of(const SweepSpec& spec) {
    ScenarioGrid grid;
    const PlannedModel& model = spec.lists.model;
    for (const std::string& name : spec.models)
        for (const auto& layers : parts_of(model.layers))
            grid.models.push_back(
                read_model(PlannedModel{name, layers, model.untied, model.vocabulary}));
    const PlannedMachine& machine = spec.lists.machine;
    for (const std::string& name : spec.machines)
        for (const auto& memory : parts_of(machine.host_memory))
            grid.machines.push_back(read_machine({name, memory, machine.settings}).spec);
    for (const Option& option : training_options()) {
        const auto given = spec.lists.training.find(option.field);
        if (given == spec.lists.training.end()) continue;
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
