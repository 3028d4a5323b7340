#include "calibrate/profile/profile_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/json_parser.h"
#include "sim/base/json_text.h"
#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value, int digits) { return json_number(rounded(value, digits)); }

/// Sizes and counts are whole numbers and stay exact, so that equal sizes are equal numbers.
Json row_json(const std::vector<double>& row) {
    Json out = Json::array();
    for (const double value : row)
        out.push_back(std::floor(value) == value ? json_number(value)
                                                 : number(value, kPointDigits));
    return out;
}

Json rows_json(const std::vector<std::vector<double>>& rows) {
    Json out = Json::array();
    for (const std::vector<double>& row : rows) out.push_back(row_json(row));
    return out;
}

void add_origin(Json& entry, const Origin& origin) {
    entry["method"] = method_name(origin.method);
    entry["source"] = origin.source;
    entry["date"] = origin.date;
    if (!origin.note.empty()) entry["note"] = origin.note;
}

Json error_json(const HeldOutError& error) {
    return {{"shapes", error.shapes},
            {"mean_error_percent", number(error.mean_percent, 4)},
            {"worst_error_percent", number(error.worst_percent, 4)},
            {"low_percent", number(error.low_percent, 4)},
            {"high_percent", number(error.high_percent, 4)}};
}

/// A number, a curve or a kernel table, or a plain text or boolean.
bool is_leaf(const Json& entry) {
    return !entry.is_object() || entry.contains("value") || entry.contains("points");
}

bool at_or_below(std::string_view path, const std::vector<std::string>& roots) {
    return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
        return path == root || path.starts_with(root + ".");
    });
}

/// `entries` with the keys of `order` first, in that order.
Json in_order(const Json& entries, const std::vector<std::string>& order) {
    Json out = Json::object();
    for (const std::string& key : order)
        if (entries.contains(key)) out[key] = entries.at(key);
    for (const auto& entry : entries.items())
        if (!out.contains(entry.key())) out[entry.key()] = entry.value();
    return out;
}

/// The source of the entry at a path with dots.
Json::json_pointer pointer_of(std::string_view path) {
    Json::json_pointer pointer;
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t dot = std::min(path.find('.', start), path.size());
        pointer.push_back(std::string(path.substr(start, dot - start)));
        start = dot + 1;
    }
    return pointer;
}

}  // namespace

ProfileJson::ProfileJson(const std::string& name) : root_(std::make_unique<Json>(Json::object())) {
    Json& root = *root_;
    root["schema"] = "sluice-machine/1";
    root["name"] = name;
    root["sources"] = Json::object();
    root["notes"] = Json::array();
    for (const ProfileSection& section : kSections) root[section.name] = Json::object();
}

ProfileJson::~ProfileJson() = default;

void ProfileJson::add_source(const std::string& key, const std::string& text) {
    (*root_)["sources"][key] = text;
}

void ProfileJson::add_note(const std::string& sentence) { (*root_)["notes"].push_back(sentence); }

Json& ProfileJson::at(std::string_view path) { return (*root_)[pointer_of(path)]; }

bool ProfileJson::has(std::string_view path) const { return root_->contains(pointer_of(path)); }

void ProfileJson::remove(std::string_view path) {
    const Json::json_pointer pointer = pointer_of(path);
    if (has(path)) (*root_)[pointer.parent_pointer()].erase(pointer.back());
}

void ProfileJson::set_text(std::string_view path, const std::string& text) { at(path) = text; }

void ProfileJson::set_flag(std::string_view path, bool value) { at(path) = value; }

void ProfileJson::set_number(std::string_view path, double value,
                             const std::optional<RateRange>& range, const Origin& origin) {
    Json entry = {{"value", number(value, kNumberDigits)}};
    if (range) {
        // With as many digits as the value, rounding keeps low <= value <= high.
        entry["low"] = number(range->low, kNumberDigits);
        entry["high"] = number(range->high, kNumberDigits);
    }
    add_origin(entry, origin);
    at(path) = std::move(entry);
}

void ProfileJson::set_curve(std::string_view path, const std::vector<std::string>& columns,
                            std::vector<std::vector<double>> points, const Origin& origin) {
    Json entry = {{"columns", columns}, {"points", rows_json(points)}};
    add_origin(entry, origin);
    at(path) = std::move(entry);
}

void ProfileJson::set_kernel_table(const KernelMeasurement& table, const Origin& origin) {
    std::vector<std::string> columns = kernel_columns(table.id);
    columns.insert(columns.end(), {"us", "us_low", "us_high", "weight"});
    std::vector<KernelPoint> points = table.points;
    std::sort(points.begin(), points.end(),
              [](const KernelPoint& a, const KernelPoint& b) { return a.row < b.row; });
    Json rows = Json::array();
    for (const KernelPoint& point : points) {
        // Sizes are whole numbers and stay exact.
        Json& row = rows.emplace_back(Json::array());
        for (const double size : point.row) row.push_back(json_number(size));
        for (const double us : {point.us, point.us_low, point.us_high})
            row.push_back(number(us, kPointDigits));
        // Weights are logarithms of time, so one this small counts as none.
        constexpr double kNoWeight = 1e-9;
        row.push_back(std::abs(point.weight) < kNoWeight ? Json(0)
                                                         : number(point.weight, kNumberDigits));
    }
    Json trend = Json::object();
    const std::vector<std::string>& names = kernel_feature_names(table.id);
    for (std::size_t i = 0; i < names.size(); ++i)
        trend[names[i]] = number(table.trend[i], kNumberDigits);
    Json entry = {{"columns", columns},
                  {"points", std::move(rows)},
                  {"trend", std::move(trend)},
                  {"length_doublings", number(table.length_doublings, kNumberDigits)},
                  {"held_out", error_json(table.held_out)}};
    add_origin(entry, origin);
    at(fmt::format("kernels.{}", kernel_table_name(table.id))) = std::move(entry);
}

std::string ProfileJson::own_source(const std::string& key, const std::string& text,
                                    const std::string& id) {
    Json& sources = (*root_)["sources"];
    std::string own = key;
    for (int count = 1; sources.contains(own) && sources[own] != text; ++count)
        own = count == 1 ? fmt::format("{}-{}", key, id) : fmt::format("{}-{}-{}", key, id, count);
    sources[own] = text;
    return own;
}

std::vector<std::string> ProfileJson::take_missing(std::string_view profile, const std::string& id,
                                                   const std::vector<std::string>& left_out) {
    const Json other = parse_ordered_json(profile, id);
    std::vector<std::string> taken;
    const auto take = [&](const auto& self, const Json& entry, const std::string& path) -> void {
        if (at_or_below(path, left_out)) return;
        if (!is_leaf(entry)) {
            for (const auto& item : entry.items())
                self(self, item.value(), fmt::format("{}.{}", path, item.key()));
            return;
        }
        if (has(path)) return;
        Json copy = entry;
        if (copy.is_object()) {
            const std::string key = copy.at("source");
            copy["source"] = own_source(key, other.at("sources").at(key), id);
        }
        at(path) = std::move(copy);
        taken.push_back(path);
    };
    for (const ProfileSection& section : kSections)
        if (other.contains(section.name)) take(take, other.at(section.name), section.name);
    return taken;
}

std::string ProfileJson::text() const {
    Json out = *root_;
    for (const auto& [name, free] : kSections) {
        if (out[name].empty())
            out.erase(name);
        else
            out[name] = in_order(out[name], known_keys_in(name));
    }
    if (out["notes"].empty()) out.erase("notes");
    return readable_json(out);
}

}  // namespace sluice
