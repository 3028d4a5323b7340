#include "sim/answers/search/scenario_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {

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

}  // namespace sluice
