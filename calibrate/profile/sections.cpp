#include "calibrate/profile/sections.h"

#include <algorithm>
#include <numeric>

#include "sim/base/units.h"

namespace sluice {

Origin measured_here(const Measurements& measurements, std::string note) {
    return {Method::measured, kCalibrationSource, measurements.date, std::move(note)};
}

Origin measured_here(const Measurements& measurements, const Table& table, std::string note) {
    return {Method::measured, kCalibrationSource, measurements.date_of(table.name),
            std::move(note)};
}

MeasuredRate rate_at(const Table& table, std::size_t row, const char* value, const char* low,
                     const char* high) {
    return {table.at(row, value), {table.at(row, low), table.at(row, high)}};
}

std::optional<Range> range_at(const Table& table, std::size_t row, const std::string& low,
                              const std::string& high) {
    if (!table.has(low) || !table.has(high)) return std::nullopt;
    return Range{table.at(row, low), table.at(row, high)};
}

double gb_per_s(double bytes, double us) { return bytes / us * kMega / kGiga; }

std::vector<std::size_t> ascending(const Table& table, const char* column) {
    std::vector<std::size_t> rows(table.rows.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
        return table.at(a, column) < table.at(b, column);
    });
    return rows;
}

std::size_t row_of_largest(const Table& table, const char* column) {
    return ascending(table, column).back();
}

const Table* find_rows(const Measurements& measurements, std::string_view table) {
    const Table* found = measurements.find(table);
    return found == nullptr || found->rows.empty() ? nullptr : found;
}

}  // namespace sluice
