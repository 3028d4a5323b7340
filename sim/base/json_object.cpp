#include "sim/base/json_object.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_parser.h"

namespace sluice {
namespace {

std::string range(double low, double high) {
    if (high == std::numeric_limits<double>::infinity())
        return fmt::format("a number of at least {:g}", low);
    return fmt::format("a number from {:g} to {:g}", low, high);
}

}  // namespace

JsonObject::JsonObject(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* value,
                       std::string file, std::string path)
    : root_(std::move(root)), value_(value), file_(std::move(file)), path_(std::move(path)) {}

JsonObject JsonObject::parse(std::string_view text, const std::string& file) {
    auto root = std::make_shared<const nlohmann::json>(parse_json(text, file));
    if (!root->is_object())
        throw InputError(
            fmt::format("{}: is {}, expected a JSON object {{...}}", file, shown_json(*root)));
    return JsonObject(root, root.get(), file, "");
}

JsonObject JsonObject::with_defaults(std::string_view json) const {
    auto whole = std::make_shared<nlohmann::json>(nlohmann::json::parse(json));
    whole->update(*value_);
    return JsonObject(whole, whole.get(), file_, path_);
}

const nlohmann::json* JsonObject::find(std::string_view key) const {
    const auto found = value_->find(std::string(key));
    return found == value_->end() ? nullptr : &*found;
}

bool JsonObject::holds(std::string_view key) const { return find(key) != nullptr; }
bool JsonObject::has(std::string_view key) const { return holds(key) && !find(key)->is_null(); }
bool JsonObject::is_object(std::string_view key) const {
    return holds(key) && find(key)->is_object();
}
bool JsonObject::is_text(std::string_view key) const {
    return holds(key) && find(key)->is_string();
}
bool JsonObject::is_list(std::string_view key) const { return holds(key) && find(key)->is_array(); }

std::string JsonObject::shown_value(std::string_view key) const {
    return shown_json(required(key));
}

std::vector<std::string> JsonObject::keys() const {
    std::vector<std::string> names;
    for (const auto& item : value_->items()) names.push_back(item.key());
    return names;
}

std::string JsonObject::where(std::string_view key) const {
    return fmt::format("{}: {}{}{}", file_, path_, path_.empty() ? "" : ".", key);
}

const nlohmann::json& JsonObject::required(std::string_view key) const {
    if (const nlohmann::json* const found = find(key)) return *found;
    throw InputError(fmt::format("{} is missing; add it{}", where(key), did_you_mean(key, keys())));
}

void JsonObject::wrong(std::string_view key, const nlohmann::json& value,
                       std::string_view expected) const {
    throw InputError(fmt::format("{} is {}, expected {}", where(key), shown_json(value), expected));
}

std::int64_t JsonObject::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
    const nlohmann::json& value = required(key);
    const std::string expected = fmt::format("a whole number from {} to {}", low, high);
    if (!value.is_number()) wrong(key, value, expected);
    const double as_double = value.get<double>();
    if (std::floor(as_double) != as_double) wrong(key, value, expected);
    if (as_double < static_cast<double>(low) || as_double > static_cast<double>(high))
        wrong(key, value, expected);
    return static_cast<std::int64_t>(as_double);
}

std::int64_t JsonObject::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                                    std::int64_t high) const {
    return has(key) ? integer(key, low, high) : fallback;
}

double JsonObject::number(std::string_view key, double low, double high) const {
    const nlohmann::json& value = required(key);
    if (!value.is_number()) wrong(key, value, range(low, high));
    const double number = value.get<double>();
    if (!(number >= low && number <= high)) wrong(key, value, range(low, high));
    return number;
}

std::optional<double> JsonObject::number_or_none(std::string_view key, double low,
                                                 double high) const {
    return has(key) ? std::optional(number(key, low, high)) : std::nullopt;
}

bool JsonObject::boolean_or(std::string_view key, bool fallback) const {
    if (!has(key)) return fallback;
    const nlohmann::json& value = required(key);
    if (!value.is_boolean()) wrong(key, value, "true or false");
    return value.get<bool>();
}

std::string JsonObject::text(std::string_view key) const {
    const nlohmann::json& value = required(key);
    if (!value.is_string()) wrong(key, value, "a text in quotes");
    return value.get<std::string>();
}

std::string JsonObject::text_or(std::string_view key, std::string_view fallback) const {
    return has(key) ? text(key) : std::string(fallback);
}

std::string JsonObject::scalar_text(std::string_view key) const {
    const nlohmann::json& value = required(key);
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_primitive()) wrong(key, value, "a number or a text");
    return value.dump();
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, std::int64_t low,
                                               std::int64_t high) const {
    const nlohmann::json& value = required(key);
    const std::string expected = fmt::format("a list of whole numbers from {} to {}", low, high);
    if (!value.is_array()) wrong(key, value, expected);
    std::vector<std::int64_t> out;
    for (const auto& item : value) {
        if (!item.is_number_integer() || item.get<double>() < static_cast<double>(low) ||
            item.get<double>() > static_cast<double>(high)) {
            wrong(key, value, expected);
        }
        out.push_back(item.get<std::int64_t>());
    }
    return out;
}

std::vector<std::string> JsonObject::texts(std::string_view key) const {
    const nlohmann::json& value = required(key);
    std::vector<std::string> out;
    if (!value.is_array()) wrong(key, value, "a list of texts");
    for (const auto& item : value) {
        if (!item.is_string()) wrong(key, value, "a list of texts");
        out.push_back(item.get<std::string>());
    }
    return out;
}

std::vector<std::vector<double>> JsonObject::rows(std::string_view key, std::size_t columns) const {
    const nlohmann::json& value = required(key);
    const std::string expected = fmt::format("a list of rows of {} numbers", columns);
    std::vector<std::vector<double>> out;
    if (!value.is_array()) wrong(key, value, expected);
    for (const auto& row : value) {
        if (!row.is_array() || row.size() != columns) wrong(key, row, expected);
        std::vector<double>& numbers = out.emplace_back();
        for (const auto& item : row) {
            if (!item.is_number() || !std::isfinite(item.get<double>())) wrong(key, row, expected);
            numbers.push_back(item.get<double>());
        }
    }
    return out;
}

const nlohmann::json& JsonObject::list(std::string_view key) const {
    const nlohmann::json& value = required(key);
    if (!value.is_array()) wrong(key, value, "a list");
    return value;
}

JsonObject JsonObject::object(std::string_view key) const {
    const nlohmann::json& value = required(key);
    if (!value.is_object()) wrong(key, value, "an object {...}");
    return JsonObject(root_, &value, file_,
                      fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key));
}

std::optional<JsonObject> JsonObject::object_or_none(std::string_view key) const {
    if (!has(key)) return std::nullopt;
    return object(key);
}

std::vector<JsonObject> JsonObject::objects(std::string_view key) const {
    const nlohmann::json& value = required(key);
    if (!value.is_array()) wrong(key, value, "a list of objects");
    std::vector<JsonObject> out;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (!value[i].is_object()) wrong(key, value[i], "an object {...}");
        out.push_back(
            JsonObject(root_, &value[i], file_,
                       fmt::format("{}{}{}[{}]", path_, path_.empty() ? "" : ".", key, i)));
    }
    return out;
}

void JsonObject::allow_only(const std::vector<std::string>& known) const {
    for (const std::string& key : keys()) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::string prefix = path_.empty() ? "" : path_ + ": ";
        const std::string hint = did_you_mean(key, known);
        throw InputError(fmt::format("{}: {}unknown key \"{}\"{}", file_, prefix, key,
                                     hint.empty() ? "; remove it" : hint));
    }
}

}  // namespace sluice
