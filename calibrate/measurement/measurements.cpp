#include "calibrate/measurement/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_text.h"

namespace sluice {
namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

}  // namespace

double quantile(std::span<const double> values, double share) {
    return quantile_of_sorted(sorted_copy(values), share);
}

Sample summarize(std::span<const double> values) {
    const std::vector<double> sorted = sorted_copy(values);
    return {quantile_of_sorted(sorted, 0.5), quantile_of_sorted(sorted, 0.05),
            quantile_of_sorted(sorted, 0.95), static_cast<int>(sorted.size())};
}

Sample rate_of(double amount, const Sample& seconds) {
    return {amount / seconds.median, amount / seconds.high, amount / seconds.low, seconds.count};
}

FitError fit_error(std::span<const double> predicted, std::span<const double> measured) {
    FitError error;
    if (measured.empty()) return error;
    std::vector<double> percent;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        percent.push_back(100 * (predicted[i] / measured[i] - 1));
        error.mean_percent += std::abs(percent.back());
        error.worst_percent = std::max(error.worst_percent, std::abs(percent.back()));
    }
    error.shapes = static_cast<int>(percent.size());
    error.mean_percent /= error.shapes;
    const Sample range = summarize(percent);
    error.low_percent = range.low;
    error.high_percent = range.high;
    return error;
}

void CaseTable::add(std::vector<double> row) {
    if (row.size() != columns.size())
        throw InternalError(fmt::format("table {}: a row of {} numbers for {} columns", name,
                                        row.size(), columns.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!std::isfinite(row[i]))
            throw InternalError(fmt::format("table {}, row {}: {} is {}, expected a finite number",
                                            name, rows.size(), columns[i], row[i]));
    }
    rows.push_back(std::move(row));
}

std::size_t CaseTable::column(std::string_view wanted) const {
    const auto found = std::find(columns.begin(), columns.end(), wanted);
    if (found == columns.end())
        throw InputError(
            fmt::format("table {}: no column {}{}", name, wanted, did_you_mean(wanted, columns)));
    return static_cast<std::size_t>(found - columns.begin());
}

bool CaseTable::has(std::string_view column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
}

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "sluice-measurements/1";

Json facts_json(const MachineFacts& facts) {
    Json out;
    out["has_gpu"] = facts.has_gpu;
    for (const FactText& text : kFactTexts) out[text.key] = facts.*text.member;
    for (const FactNumber& number : kFactNumbers)
        out[number.key] = json_number(facts.*number.member);
    return out;
}

MachineFacts read_facts(const JsonObject& object) {
    MachineFacts facts;
    std::vector<std::string> known = {"has_gpu"};
    if (!object.has("has_gpu"))
        throw InputError(fmt::format("{} is missing; add true or false", object.where("has_gpu")));
    facts.has_gpu = object.boolean_or("has_gpu", false);
    for (const FactText& text : kFactTexts) {
        known.emplace_back(text.key);
        facts.*text.member = object.text(text.key);
    }
    constexpr double kMost = 1e18;
    for (const FactNumber& number : kFactNumbers) {
        known.emplace_back(number.key);
        facts.*number.member = object.number(number.key, 0, kMost);
    }
    object.allow_only(known);
    return facts;
}

Json table_json(const CaseTable& table) {
    Json rows = Json::array();
    for (const std::vector<double>& row : table.rows) {
        Json& numbers = rows.emplace_back(Json::array());
        for (const double number : row) numbers.push_back(json_number(number));
    }
    return {{"name", table.name},
            {"method", table.method},
            {"columns", table.columns},
            {"rows", std::move(rows)}};
}

CaseTable read_table(const JsonObject& object) {
    object.allow_only({"name", "method", "columns", "rows"});
    CaseTable table;
    table.name = object.text("name");
    table.method = object.text("method");
    table.columns = object.texts("columns");
    try {
        table.rows = object.rows("rows", table.columns.size());
    } catch (const InputError& error) {
        throw InputError(fmt::format("{} (table \"{}\"); measure the case again with --only",
                                     error.what(), table.name));
    }
    return table;
}

CaseRecord read_case(const JsonObject& object, const std::string& date) {
    object.allow_only({"name", "date", "seconds", "quick", "warnings", "tables"});
    CaseRecord record;
    record.name = object.text("name");
    record.date = object.has("date") ? object.text("date") : date;
    constexpr double kLongest = 1e7;
    record.seconds = object.number("seconds", 0, kLongest);
    record.quick = object.boolean_or("quick", false);
    record.warnings = object.texts("warnings");
    for (const JsonObject& table : object.objects("tables"))
        record.tables.push_back(read_table(table));
    return record;
}

}  // namespace

const CaseTable* Measurements::find(std::string_view table) const {
    for (const CaseRecord& record : cases) {
        for (const CaseTable& candidate : record.tables)
            if (candidate.name == table) return &candidate;
    }
    return nullptr;
}

const std::string& Measurements::date_of(std::string_view table) const {
    for (const CaseRecord& record : cases) {
        for (const CaseTable& candidate : record.tables)
            if (candidate.name == table) return record.date;
    }
    return date;
}

std::string Measurements::days() const {
    if (cases.empty()) return date;
    std::string first = cases.front().date, last;
    for (const CaseRecord& record : cases) {
        // "2026-11-21", or a span of pooled ones.
        constexpr std::string_view kTo = " to ";
        const std::size_t to = record.date.find(kTo);
        first = std::min(first, record.date.substr(0, to));
        last = std::max(
            last, to == std::string::npos ? record.date : record.date.substr(to + kTo.size()));
    }
    return first == last ? first : fmt::format("{} to {}", first, last);
}

std::string measurements_json(const Measurements& measurements) {
    Json cases = Json::array();
    for (const CaseRecord& record : measurements.cases) {
        Json tables = Json::array();
        for (const CaseTable& table : record.tables) tables.push_back(table_json(table));
        cases.push_back({{"name", record.name},
                         {"date", record.date},
                         {"seconds", json_number(record.seconds)},
                         {"quick", record.quick},
                         {"warnings", record.warnings},
                         {"tables", std::move(tables)}});
    }
    Json out;
    out["schema"] = kSchema;
    out["id"] = measurements.id;
    out["date"] = measurements.date;
    out["machine"] = facts_json(measurements.facts);
    out["cases"] = std::move(cases);
    return readable_json(out);
}

Measurements parse_measurements(std::string_view text, const std::string& file) {
    const JsonObject root = JsonObject::parse(text, file);
    if (root.text("schema") != kSchema) {
        throw InputError(fmt::format("{} is \"{}\", expected \"{}\"; measure again",
                                     root.where("schema"), root.text("schema"), kSchema));
    }
    root.allow_only({"schema", "id", "date", "machine", "cases"});
    Measurements measurements;
    measurements.id = root.text("id");
    measurements.date = root.text("date");
    measurements.facts = read_facts(root.object("machine"));
    for (const JsonObject& record : root.objects("cases"))
        measurements.cases.push_back(read_case(record, measurements.date));
    return measurements;
}

}  // namespace sluice
