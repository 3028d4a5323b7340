// A table for programs: CSV and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/table.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

bool is_read_by(const Column& column, Programs programs) {
    return !column.key.empty() && (column.programs == Programs::all || column.programs == programs);
}

std::vector<std::string> keys_of(const Column& column) {
    const std::size_t hole = column.key.find("{}");
    if (hole == std::string::npos || column.programs == Programs::csv) return {column.key};
    const auto with = [&](const char* percent) {
        return std::string(column.key).replace(hole, 2, percent);
    };
    return {with("5"), with("95")};
}

/// One entry per key of the column.
std::vector<Json> values_of(const Cell& cell, const Column& column) {
    if (cell.is_missing()) return std::vector<Json>(keys_of(column).size());
    if (const auto* range = std::get_if<Range>(&cell.value)) return {range->low, range->high};
    return std::visit(
        [](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, Range> || std::is_same_v<Value, std::monostate>)
                return std::vector<Json>(1);
            else
                return std::vector<Json>{value};
        },
        cell.value);
}

std::string csv_field(const Json& value, int digits) {
    if (value.is_null()) return "";
    if (value.is_string()) return csv_text(value.get<std::string>());
    if (value.is_number_float()) return fmt::format("{}", rounded(value.get<double>(), digits));
    return value.dump();
}

}  // namespace

std::string to_csv(const Table& table, int digits) {
    std::vector<std::string> head;
    for (const Column& column : table.columns)
        if (is_read_by(column, Programs::csv))
            for (std::string key : keys_of(column)) {
                if (column.programs == Programs::all)
                    std::replace(key.begin(), key.end(), '.', '_');
                head.push_back(std::move(key));
            }
    std::string out = fmt::format("{}\n", fmt::join(head, ","));
    for (const Row& row : table.rows) {
        std::vector<std::string> fields;
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            if (is_read_by(table.columns[i], Programs::csv))
                for (const Json& value : values_of(row.cells[i], table.columns[i]))
                    fields.push_back(csv_field(value, digits));
        out += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return out;
}

Json to_json(const Table& table, bool leave_out) {
    Json out = Json::array();
    for (const Row& row : table.rows) {
        Json object = Json::object();
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const Column& column = table.columns[i];
            if (!is_read_by(column, Programs::json) || (leave_out && row.cells[i].is_missing()))
                continue;
            const std::vector<std::string> keys = keys_of(column);
            const std::vector<Json> values = values_of(row.cells[i], column);
            for (std::size_t k = 0; k < keys.size(); ++k) {
                const std::size_t dot = keys[k].find('.');
                if (dot == std::string::npos)
                    object[keys[k]] = values[k];
                else
                    object[keys[k].substr(0, dot)][keys[k].substr(dot + 1)] = values[k];
            }
        }
        for (auto& [key, part] : object.items())
            if (part.is_object() && std::all_of(part.begin(), part.end(),
                                                [](const Json& value) { return value.is_null(); }))
                part = Json();
        out.push_back(std::move(object));
    }
    return out;
}

}  // namespace sluice
