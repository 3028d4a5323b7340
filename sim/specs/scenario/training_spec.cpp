#include "sim/specs/scenario/training_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {
namespace {

std::vector<std::string> names_of(const std::vector<Choice>& choices) {
    std::vector<std::string> out;
    for (const Choice& choice : choices) out.emplace_back(choice.name);
    return out;
}

/// Whole sets have a name of their own.
constexpr const char* kWhole = "all";

/// 0 where it is none.
int set_value(const std::vector<Choice>& members, std::string_view text) {
    int value = 0, all = 0;
    for (const Choice& member : members) all |= member.value;
    if (text == kWhole) return all;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view name = text.substr(begin, end - begin);
        const auto found = std::ranges::find_if(
            members, [&](const Choice& member) { return name == member.name; });
        if (found == members.end()) return 0;
        value |= found->value;
        begin = end + 1;
    }
    return value;
}

std::string set_text(const std::vector<Choice>& members, int value) {
    std::vector<std::string> names;
    for (const Choice& member : members)
        if ((value & member.value) != 0) names.emplace_back(member.name);
    return names.size() == members.size() ? kWhole : fmt::format("{}", fmt::join(names, ","));
}

[[noreturn]] void wrong(const Option& option, std::string_view text, std::string_view where) {
    if (!option.members.empty())
        throw InputError(
            fmt::format("{} is \"{}\", expected all, or one or several of {} with "
                        "commas between them",
                        where, text, fmt::join(names_of(option.members), ",")));
    if (!option.choices.empty()) {
        const std::vector<std::string> names = names_of(option.choices);
        throw InputError(fmt::format("{} is \"{}\", expected {}{}", where, text,
                                     fmt::join(names, " or "), did_you_mean(text, names)));
    }
    if (!option.numbers.empty())
        throw InputError(fmt::format("{} is {}, expected {}", where, text, option.numbers));
    const std::string unit = option.unit[0] == '\0' ? "" : fmt::format("of {} ", option.unit);
    throw InputError(fmt::format("{} is {}, expected a {}number {}from {:.0f} to {:.0f}", where,
                                 text, option.is_memory ? "memory size or " : "whole ", unit,
                                 option.low, option.high));
}

/// "; only megatrain", of an option that other schedules do not have.
std::string only_schedules(const Option& option) {
    std::vector<std::string> names;
    for (const ScheduleRecord& record : schedule_table())
        if (has_option(Schedule(record), option)) names.emplace_back(record.name);
    if (names.size() == schedule_table().size()) return "";
    return fmt::format("; only {}", fmt::join(names, ", "));
}

}  // namespace

const Option& training_option(std::string_view field) {
    const auto found = std::ranges::find(training_options(), field, &Option::field);
    if (found == training_options().end())
        throw InternalError(fmt::format("no training option {}", field));
    return *found;
}

std::string field_flag(std::string field) {
    std::replace(field.begin(), field.end(), '_', '-');
    return "--" + field;
}

std::string option_flag(const Option& option) { return field_flag(option.field); }

std::vector<Setting> changed_settings(const TrainingSpec& asked, const TrainingSpec& changed) {
    std::vector<Setting> out;
    for (const Option& option : training_options())
        if (option.get(asked) != option.get(changed))
            out.push_back({option.field, option_text(changed, option)});
    return out;
}

std::map<std::string, std::string> option_texts(const TrainingSpec& spec) {
    std::map<std::string, std::string> texts;
    for (const Option& option : training_options())
        if (has_option(spec.schedule, option)) texts[option.field] = option_text(spec, option);
    return texts;
}

TrainingSpec as_users_run(TrainingSpec asked, const std::set<std::string>& given) {
    for (const auto& [field, value] : asked.schedule->users_run) {
        if (given.contains(std::string(field))) continue;
        const Option& option = training_option(field);
        set_option(asked, option, value, option_flag(option));
    }
    check_training_spec(asked);
    return asked;
}

std::string setting_flags(const std::vector<Setting>& settings) {
    std::string out;
    for (const Setting& one : settings)
        out += fmt::format("{}{} {}", out.empty() ? "" : " ", field_flag(one.field), one.value);
    return out;
}

std::string setting_words(const std::vector<Setting>& settings) {
    std::string out;
    for (const Setting& one : settings) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", field_label(one.field), one.value);
        const auto option = std::ranges::find(training_options(), one.field, &Option::field);
        if (one.value == "0" && option != training_options().end() && !option->zero.empty())
            out += fmt::format(" ({})", option->zero);
    }
    return out;
}

std::string option_help(const Option& option) {
    std::string help = option.help;
    if (!option.members.empty()) {
        help += fmt::format(" [all, or several of {}]", fmt::join(names_of(option.members), ","));
    } else if (option.choices.empty()) {
        if (option.unit[0] != '\0') help += fmt::format(" [{}]", option.unit);
    } else {
        help += fmt::format(" [{}]", fmt::join(names_of(option.choices), ", "));
    }
    const std::string standard = option_text(TrainingSpec{}, option);
    if (!option.is_text() && option.numbers.empty())
        help += fmt::format("; {} to {}, default {}", format_thousands(option.low),
                            format_thousands(option.high), standard);
    else
        help += "; default " + standard;
    return help + only_schedules(option);
}

std::string option_brief(const Option& option) {
    const std::string standard = option_text(TrainingSpec{}, option);
    const bool says_zero = standard == "0" && !option.zero.empty();
    return fmt::format("{} [{}]", option.brief, says_zero ? option.zero : standard);
}

std::string option_value(const Option& option) {
    if (option.value_name[0] != '\0') return option.value_name;
    if (!option.members.empty()) return fmt::format("{}", fmt::join(names_of(option.members), ","));
    if (option.choices.empty()) return option.is_memory ? "SIZE" : "N";
    return fmt::format("{{{}}}", fmt::join(names_of(option.choices), ","));
}

void set_option(TrainingSpec& spec, const Option& option, std::string_view text,
                std::string_view where) {
    for (const Choice& choice : option.choices) {
        if (text == choice.name) return option.set(spec, choice.value);
    }
    if (!option.members.empty()) {
        const int value = set_value(option.members, text);
        if (value == 0) wrong(option, text, where);
        return option.set(spec, value);
    }
    const std::optional<double> number = parse_number(text);
    if (!option.choices.empty() || (!number && !option.is_memory)) wrong(option, text, where);
    const double value = number ? *number : parse_memory_size(text, where);
    if (option.is_memory && value > 0 && value < kMega)
        throw InputError(fmt::format(
            "{} is {}, less than 1 MB; give a size with its unit, as in 16GB", where, text));
    const bool whole = option.is_memory || std::floor(value) == value;
    if (!whole || !(value >= option.low && value <= option.high)) wrong(option, text, where);
    option.set(spec, value);
}

std::string option_text(const TrainingSpec& spec, const Option& option) {
    const double value = option.get(spec);
    if (!option.members.empty()) return set_text(option.members, static_cast<int>(value));
    for (const Choice& choice : option.choices) {
        if (choice.value == static_cast<int>(value)) return choice.name;
    }
    return fmt::format("{}", static_cast<std::int64_t>(value));
}

void set_options(TrainingSpec& spec, const JsonObject& root) {
    std::vector<std::string> known;
    for (const Option& option : training_options()) known.emplace_back(option.field);
    root.allow_only(known);
    const std::vector<std::string> given = root.keys();
    for (const Option& option : training_options()) {
        if (std::find(given.begin(), given.end(), option.field) == given.end()) continue;
        const std::string value = root.scalar_text(option.field);
        if (root.is_text(option.field) && !option.is_text())
            wrong(option, fmt::format("\"{}\"", value), root.where(option.field));
        set_option(spec, option, value, root.where(option.field));
    }
}

std::map<std::string, std::string> parse_option_texts(std::string_view text,
                                                      const std::string& file) {
    const JsonObject root = JsonObject::parse(text, file);
    TrainingSpec refuses_mistakes;
    set_options(refuses_mistakes, root);
    std::map<std::string, std::string> out;
    for (const std::string& field : root.keys()) out[field] = root.scalar_text(field);
    return out;
}

TrainingSpec parse_training_spec(std::string_view text, const std::string& file) {
    TrainingSpec spec;
    set_options(spec, JsonObject::parse(text, file));
    return spec;
}

}  // namespace sluice
