#include "calibrate/measurement/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_text.h"

namespace sluice {

void Table::add(std::vector<double> row) {
    if (row.size() != columns.size()) {
        throw InternalError(fmt::format("table {}: a row of {} numbers for {} columns", name,
                                        row.size(), columns.size()));
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!std::isfinite(row[i])) {
            throw InternalError(fmt::format("table {}, row {}: {} is {}, expected a finite number",
                                            name, rows.size(), columns[i], row[i]));
        }
    }
    rows.push_back(std::move(row));
}

std::size_t Table::column(std::string_view wanted) const {
    const auto found = std::find(columns.begin(), columns.end(), wanted);
    if (found == columns.end()) {
        throw InputError(
            fmt::format("table {}: no column {}{}", name, wanted, did_you_mean(wanted, columns)));
    }
    return static_cast<std::size_t>(found - columns.begin());
}

bool Table::has(std::string_view column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
}

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "sluice-measurements/1";

/// The facts' names in the file; the same list writes and reads.
struct FactNumber {
    const char* key;
    double MachineFacts::*member;
};
constexpr std::array kFactNumbers = {
    FactNumber{"multiprocessors", &MachineFacts::multiprocessors},
    FactNumber{"gpu_memory_bytes", &MachineFacts::gpu_memory_bytes},
    FactNumber{"gpu_context_bytes", &MachineFacts::gpu_context_bytes},
    FactNumber{"gpu_power_limit_w", &MachineFacts::gpu_power_limit_w},
    FactNumber{"host_memory_bytes", &MachineFacts::host_memory_bytes},
    FactNumber{"system_reserve_bytes", &MachineFacts::system_reserve_bytes},
    FactNumber{"process_base_bytes", &MachineFacts::process_base_bytes},
    FactNumber{"cpus", &MachineFacts::cpus},
    FactNumber{"physical_cores", &MachineFacts::physical_cores},
    FactNumber{"compute_threads", &MachineFacts::compute_threads},
    FactNumber{"numa_nodes", &MachineFacts::numa_nodes},
};

struct FactText {
    const char* key;
    std::string MachineFacts::*member;
};
constexpr std::array kFactTexts = {
    FactText{"gpu_name", &MachineFacts::gpu_name},
    FactText{"cpu_name", &MachineFacts::cpu_name},
    FactText{"driver", &MachineFacts::driver},
    FactText{"activations", &MachineFacts::activations},
};

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

Json table_json(const Table& table) {
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

Table read_table(const JsonObject& object) {
    object.allow_only({"name", "method", "columns", "rows"});
    Table table;
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

const Table* Measurements::find(std::string_view table) const {
    for (const CaseRecord& record : cases) {
        for (const Table& candidate : record.tables)
            if (candidate.name == table) return &candidate;
    }
    return nullptr;
}

const std::string& Measurements::date_of(std::string_view table) const {
    for (const CaseRecord& record : cases) {
        for (const Table& candidate : record.tables)
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
        for (const Table& table : record.tables) tables.push_back(table_json(table));
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
