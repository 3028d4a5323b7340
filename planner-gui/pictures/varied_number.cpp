#include "planner-gui/pictures/varied_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "sim/answers/search/scenario_grid.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_number.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {
namespace {

constexpr const char* kHostMemory = "host.memory_capacity_gb";

/// From an eighth to eight times the nearest power of two.
std::vector<double> powers_around(double value) {
    const double middle = std::exp2(std::round(std::log2(std::max(1.0, value))));
    std::vector<double> out;
    for (double power = middle / 8; power <= middle * 8; power *= 2)
        if (power >= 1) out.push_back(power);
    return out;
}

/// 0 and the powers of two that divide the batch.
std::vector<double> parts_of(std::int64_t batch) {
    std::vector<double> out = {0};
    for (std::int64_t part = 1; part <= batch && out.size() < 9; part *= 2)
        if (batch % part == 0) out.push_back(static_cast<double>(part));
    return out;
}

std::vector<double> option_values(const Option& option, const TrainingSpec& training) {
    std::vector<double> out = option.proposals;
    for (const Choice& choice : option.choices) out.push_back(choice.value);
    if (option.field == std::string_view("micro_batch")) out = parts_of(training.batch_of_a_gpu());
    if (out.empty()) out = powers_around(option.get(training));
    std::erase_if(out, [&](double value) { return value < option.low || value > option.high; });
    return out;
}

/// Rounds to three digits, so that axes are legible.
double rounded(double value) {
    return std::stod(fmt::format("{:.3g}", value));  // the double that its text denotes
}

std::vector<double> machine_values(const std::string& path, std::optional<double> current) {
    if (!current || *current <= 0)
        return path == kHostMemory ? std::vector<double>{128, 256, 512, 1024, 1536, 2048, 4096}
                                   : std::vector<double>{};
    std::vector<double> out;
    for (const double factor : {0.5, 0.75, 1.5, 2.0, 3.0, 4.0})
        out.push_back(rounded(factor * *current));
    return out;
}

double parse_machine_value(const VariedNumber& number, const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double kLargest = 1e15;  // as for --set
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value > 0 && value <= kLargest))
        throw InputError(
            fmt::format("{} is \"{}\", expected a number above 0", number.label, text));
    return value;
}

}  // namespace

VariedNumber varied_option(const Option& option) {
    return {&option, option.field, field_label(option.field), option.unit, option.help};
}

std::vector<VariedNumber> varied_numbers(Schedule schedule) {
    std::vector<VariedNumber> numbers;
    for (const Option& option : training_options())
        if (has_option(schedule, option) && option.members.empty())
            numbers.push_back(varied_option(option));
    for (const MachineNumber& row : machine_table())
        if (row.label != nullptr)
            numbers.push_back(
                {nullptr, std::string(row.path), field_label(row.label), row.unit(), row.help});
    return numbers;
}

std::optional<double> current_value(const VariedNumber& number, const TrainingSpec& training,
                                    const MachineProfile& profile) {
    if (number.option != nullptr) return number.option->get(training);
    return profile.number(number.key);
}

std::vector<double> proposed_values(const VariedNumber& number, const TrainingSpec& training,
                                    const MachineProfile& profile) {
    const std::optional<double> current = current_value(number, training, profile);
    std::vector<double> out = number.option != nullptr ? option_values(*number.option, training)
                                                       : machine_values(number.key, current);
    if (current && std::find(out.begin(), out.end(), *current) == out.end())
        out.push_back(*current);
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<double> parse_values(const VariedNumber& number, const std::string& text) {
    std::string plain = text;  // users type spaces after commas
    std::erase(plain, ' ');
    if (number.option != nullptr) return parse_axis(*number.option, plain, number.label).values;
    std::vector<double> values;
    for (const std::string& part : split_list(plain)) {
        const double value = parse_machine_value(number, part);
        if (std::find(values.begin(), values.end(), value) != values.end())
            throw InputError(fmt::format("{} is {}, which has {} twice; give each value once",
                                         number.label, text, part));
        values.push_back(value);
    }
    return values;
}

std::string values_text(const VariedNumber& number, const std::vector<double>& values) {
    std::vector<std::string> parts;
    for (const double value : values) {
        if (number.option == nullptr) {
            parts.push_back(fmt::format("{}", value));
        } else if (number.option->is_memory && value > 0 && std::fmod(value, kGiga) == 0) {
            parts.push_back(fmt::format("{:.0f}GB", value / kGiga));
        } else {
            TrainingSpec training;
            number.option->set(training, value);
            parts.push_back(option_text(training, *number.option));
        }
    }
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string value_label(const VariedNumber& number, double value) {
    const bool is_choice = number.option != nullptr && !number.option->choices.empty();
    if (is_choice) return values_text(number, {value});
    if (number.option != nullptr && value == 0 && !number.option->zero.empty())
        return number.option->zero;
    if (number.option != nullptr && number.option->is_memory && value > 0)
        return format_bytes(value);
    if (std::floor(value) == value) return format_thousands(value);
    return fmt::format("{:.4g}", value);
}

std::string axis_title(const VariedNumber& number) {
    return number.unit.empty() ? number.label : fmt::format("{} [{}]", number.label, number.unit);
}

}  // namespace sluice
