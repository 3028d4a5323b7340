// Which model of the library does a person mean by a size, by a part of a name, or by a name that
// is not there?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

constexpr double kLikeSize = 0.15;  // share by which a model of that size may differ
constexpr std::size_t kMostNamed = 3;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Parameters of the first "70b" or "0.5b" in a name; "3.1" of llama-3.1 is none.
std::optional<double> size_in(const std::string& name) {
    for (std::size_t i = 0; i < name.size();) {
        if (!is_digit(name[i]) || (i > 0 && is_letter(name[i - 1]))) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
        const bool ends_there = end + 1 >= name.size() || !is_letter(name[end + 1]);
        const std::optional<double> number = parse_number(name.substr(i, end - i));
        if (end < name.size() && ends_there && number)
            for (const auto& [letter, factor] : {std::pair('m', 1e6), {'b', 1e9}, {'t', 1e12}})
                if (name[end] == letter) return *number * factor;
        i = end;
    }
    return std::nullopt;
}

/// The letters before the first digit: "llama-", "qwen".
std::string family_of(const std::string& name) {
    return {name.begin(), std::ranges::find_if(name, is_digit)};
}

std::vector<std::string> all_names() {
    std::vector<std::string> out = library_models();
    for (const ScaledTarget& target : scaled_targets()) out.emplace_back(target.name);
    return out;
}

/// The models of the series to which a name with a size belongs (qwen2.5-999b), nearest in size
/// first; empty if the library has no such series.
std::vector<std::string> of_series_of(const std::string& name, double size) {
    const std::string series = name.substr(0, name.find_last_of('-') + 1);
    std::vector<std::string> out = library_models();
    std::erase_if(out, [&](const std::string& one) {
        return series.empty() || !one.starts_with(series) || !size_in(one);
    });
    std::ranges::stable_sort(
        out, {}, [&](const std::string& one) { return std::abs(std::log(*size_in(one) / size)); });
    return out;
}

/// Models of the size in a name, only those of its family if there are any; else those of its
/// series in other sizes.
std::vector<std::string> of_size_in(const std::string& name) {
    std::vector<std::string> out;
    const auto size = size_in(name);
    if (size) out = models_of_size(*size);
    const auto of_family = [family = family_of(name)](const std::string& one) {
        return one.starts_with(family);
    };
    if (std::ranges::any_of(out, of_family))
        std::erase_if(out, std::not_fn(of_family));
    else if (size)
        if (std::vector<std::string> series = of_series_of(name, *size); !series.empty())
            out = std::move(series);
    if (out.size() > kMostNamed) out.resize(kMostNamed);
    return out;
}

/// Parameters, if the text is a size.
std::optional<double> size_of(const std::string& text) {
    constexpr double kLeast = 1e6;  // smaller ones are numbers of something else
    const std::optional<double> size = parse_amount(text);
    return size && *size >= kLeast ? size : std::nullopt;
}

std::string parameters_of(const std::string& name) {
    return format_count(static_cast<double>(total_parameters(read_model(name))));
}

}  // namespace

std::string model_of(const std::string& text, const std::string& where) {
    if (names_a_model(text)) return text;
    if (const std::optional<double> size = size_of(text)) {
        const std::vector<std::string> near = models_of_size(*size);
        if (!near.empty()) return near.front();
        throw InputError(
            fmt::format("{} is \"{}\", but no model of the library has about {} parameters; name "
                        "one of: sluice models, or give a path to a config.json",
                        where, text, format_count(*size)),
            "model");
    }
    constexpr std::size_t kTellingPart = 3;  // "x" would be mixtral
    if (text.size() < kTellingPart) return text;
    const std::vector<std::string> names = library_models();
    const auto has_it = [part = lowercase(text)](const std::string& name) {
        return name.find(part) != std::string::npos;
    };
    return std::ranges::count_if(names, has_it) == 1 ? *std::ranges::find_if(names, has_it) : text;
}

std::string model_note(const std::string& text) {
    const std::string name = model_of(text);
    if (name == text) return "";
    std::string out = fmt::format("model {}: {} ({} parameters)", text, name, parameters_of(name));
    const std::optional<double> size = size_of(text);
    if (!size) return out + ", the only name of the library with that part";
    out += ", about that size";
    std::vector<std::string> also;
    for (const std::string& one : models_of_size(*size))
        if (one != name && also.size() < kMostNamed)
            also.push_back(fmt::format("{} ({})", one, parameters_of(one)));
    return also.empty() ? out : fmt::format("{}; also {}", out, fmt::join(also, ", "));
}

std::vector<std::string> models_of_size(double parameters) {
    std::vector<std::tuple<bool, double, std::string>> near;
    for (const std::string& name : all_names()) {
        const double has = static_cast<double>(total_parameters(read_model(name)));
        const double differs = std::abs(has / parameters - 1);
        // Who says 14B means a model that is called 14b, though the 14.66 B of phi-4 are nearer.
        if (differs < kLikeSize) near.emplace_back(size_in(name) != parameters, differs, name);
    }
    std::ranges::sort(near);
    std::vector<std::string> out;
    for (auto& [other_name, differs, name] : near) out.push_back(std::move(name));
    return out;
}

std::string model_hint(const std::string& asked) {
    const std::string name = short_name(asked);
    const std::vector<std::string> all = all_names();
    const bool is_part = std::ranges::any_of(
        all, [&](const std::string& one) { return one.find(name) != std::string::npos; });
    const std::vector<std::string> of_size =
        is_part ? std::vector<std::string>{} : of_size_in(name);
    if (of_size.empty()) return names_like(name, all, kMostNamed);
    if (asked.find('/') == std::string::npos) return may_be_meant(of_size);
    return fmt::format("; models like it: {}", fmt::join(of_size, ", "));
}

}  // namespace sluice
