#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "calibrate/measurement/measurements.h"
#include "sim/base/input_error.h"

namespace sluice {

std::vector<std::string> machine_differences(const MachineFacts& before, const MachineFacts& now) {
    std::vector<std::string> all;
    for (const FactText& text : kFactTexts)
        if (before.*text.member != now.*text.member)
            all.push_back(fmt::format("{} is \"{}\", was \"{}\"", text.shown, now.*text.member,
                                      before.*text.member));
    for (const FactNumber& fact : kFactNumbers) {
        const double was = before.*fact.member, is = now.*fact.member;
        if (fact.shown == nullptr || std::abs(is - was) <= fact.tolerance * was) continue;
        // With a GPU the CPU has no kernels.
        if (fact.member == &MachineFacts::compute_threads && now.has_gpu) continue;
        all.push_back(
            fmt::format("{} is {:g}, was {:g}", fact.shown, is / fact.unit, was / fact.unit));
    }
    return all;
}

namespace {

/// Columns that say what was measured. All others are results: a value, or, by the ends of their
/// names, the low or the high end of a range.
constexpr std::array kKeys = {"m",        "n",          "k",           "added",       "sequences",
                              "sequence", "heads",      "kv_heads",    "head_dim",    "rows",
                              "columns",  "bytes",      "block_bytes", "queue_depth", "threads",
                              "node",     "tflop",      "state_bytes", "held_out",    "parameters",
                              "by_rows",  "by_columns", "sought"};

/// Each row is a moment, and is kept.
constexpr const char* kWindows = "mixed_load";

bool is_key(const std::string& column) {
    return std::find(kKeys.begin(), kKeys.end(), column) != kKeys.end();
}

/// Rows with the same key are distinguished by their order, from 0.
using Key = std::pair<std::vector<double>, int>;

std::vector<Key> keys_of(const CaseTable& table) {
    std::vector<Key> keys;
    std::map<std::vector<double>, int> seen;
    for (const std::vector<double>& row : table.rows) {
        std::vector<double> key;
        for (std::size_t i = 0; i < row.size(); ++i)
            if (is_key(table.columns[i])) key.push_back(row[i]);
        const int before = seen[key]++;
        keys.emplace_back(std::move(key), before);
    }
    return keys;
}

double pooled_value(const std::string& column, const std::vector<double>& values) {
    if (is_key(column)) return values.front();
    if (column.ends_with("low")) return *std::min_element(values.begin(), values.end());
    if (column.ends_with("high")) return *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

using Row = std::vector<double>;

/// In the order in which keys are first seen.
std::vector<Row> pooled_rows(const std::vector<const CaseTable*>& tables) {
    std::vector<std::vector<const Row*>> same;
    std::map<Key, std::size_t> at;
    for (const CaseTable* table : tables) {
        const std::vector<Key> keys = keys_of(*table);
        for (std::size_t row = 0; row < keys.size(); ++row) {
            const auto [found, is_new] = at.try_emplace(keys[row], same.size());
            if (is_new) same.emplace_back();
            same[found->second].push_back(&table->rows[row]);
        }
    }
    const std::vector<std::string>& columns = tables.front()->columns;
    std::vector<Row> rows;
    for (const std::vector<const Row*>& group : same) {
        Row& row = rows.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            std::vector<double> values;
            for (const Row* one : group) values.push_back((*one)[i]);
            row.push_back(pooled_value(columns[i], values));
        }
    }
    return rows;
}

CaseTable all_windows(const std::vector<const CaseTable*>& tables) {
    CaseTable out = *tables.front();
    out.columns.emplace_back(kCalibrationColumn);
    out.rows.clear();
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (Row row : tables[i]->rows) {
            row.push_back(static_cast<double>(i));
            out.rows.push_back(std::move(row));
        }
    }
    out.method += fmt::format("; windows of {} measurements", tables.size());
    return out;
}

CaseTable pool_tables(const std::vector<const CaseTable*>& tables) {
    if (tables.size() == 1) return *tables.front();
    if (tables.front()->name == kWindows) return all_windows(tables);
    CaseTable out = *tables.front();
    out.rows = pooled_rows(tables);
    out.method +=
        fmt::format("; mean of {} measurements, low and high the farthest of them", tables.size());
    return out;
}

std::string span(const std::string& first, const std::string& last) {
    return first == last ? first : fmt::format("{} to {}", first, last);
}

struct CaseOfFile {
    const CaseRecord* record;
    const std::string* file;
};

const CaseTable* find_table(const CaseRecord& record, const std::string& name) {
    const auto found = std::find_if(record.tables.begin(), record.tables.end(),
                                    [&](const CaseTable& table) { return table.name == name; });
    return found == record.tables.end() ? nullptr : &*found;
}

/// The tables of this name. Throws InputError if their columns differ.
std::vector<const CaseTable*> tables_named(const std::string& name,
                                           const std::vector<CaseOfFile>& cases) {
    std::vector<const CaseTable*> tables;
    for (const auto& [record, file] : cases) {
        const CaseTable* const table = find_table(*record, name);
        if (table == nullptr) continue;
        if (!tables.empty() && table->columns != tables.front()->columns) {
            throw InputError(fmt::format(
                "{}: table {}: columns are {}, expected {} as in the files before it; measure that "
                "again: sluice-calibrate --only {}",
                *file, name, fmt::join(table->columns, ", "),
                fmt::join(tables.front()->columns, ", "), record->name));
        }
        tables.push_back(table);
    }
    return tables;
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& one : more)
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

CaseRecord pool_cases(const std::vector<CaseOfFile>& cases) {
    CaseRecord out;
    out.name = cases.front().record->name;
    std::string first = cases.front().record->date, last = first;
    std::vector<std::string> names;
    for (const auto& [record, file] : cases) {
        first = std::min(first, record->date);
        last = std::max(last, record->date);
        out.seconds += record->seconds;
        out.quick = out.quick || record->quick;
        add_new(out.warnings, record->warnings);
        for (const CaseTable& table : record->tables) add_new(names, {table.name});
    }
    out.date = span(first, last);
    for (const std::string& name : names)
        out.tables.push_back(pool_tables(tables_named(name, cases)));
    return out;
}

void require_same(const MeasurementsFile& first, const MeasurementsFile& other) {
    if (other.measurements.id != first.measurements.id) {
        throw InputError(fmt::format(
            "{}: id is \"{}\", expected \"{}\" as in {}: only measurements of one machine are "
            "pooled, which have one name; leave the file out, or correct its id",
            other.file, other.measurements.id, first.measurements.id, first.file));
    }
    const auto found = machine_differences(first.measurements.facts, other.measurements.facts);
    if (found.empty()) return;
    throw InputError(
        fmt::format("{}: machine: {} in {}: only measurements of one machine in the same settings "
                    "are pooled; leave the file out",
                    other.file, fmt::join(found, "; "), first.file));
}

/// The memory of context and libraries is complete only after all kernels have run, so the largest
/// value counts.
void take_larger(MachineFacts& facts, const MachineFacts& other) {
    for (const auto bytes : {&MachineFacts::gpu_context_bytes, &MachineFacts::process_base_bytes})
        facts.*bytes = std::max(facts.*bytes, other.*bytes);
}

}  // namespace

Measurements pool_measurements(const std::vector<MeasurementsFile>& files) {
    if (files.size() == 1) return files.front().measurements;
    Measurements out = files.front().measurements;
    std::vector<std::string> names;
    for (const MeasurementsFile& file : files) {
        require_same(files.front(), file);
        take_larger(out.facts, file.measurements.facts);
        out.date = std::min(out.date, file.measurements.date);
        add_new(out.pooled_files, {std::filesystem::path(file.file).filename().string()});
        for (const CaseRecord& record : file.measurements.cases) add_new(names, {record.name});
    }
    out.cases.clear();
    for (const std::string& name : names) {
        std::vector<CaseOfFile> cases;
        for (const MeasurementsFile& file : files)
            for (const CaseRecord& record : file.measurements.cases)
                if (record.name == name) cases.push_back({&record, &file.file});
        out.cases.push_back(pool_cases(cases));
    }
    return out;
}

}  // namespace sluice
