#include <fmt/format.h>

#include <algorithm>

#include "calibrate/profile/sections.h"

namespace sluice {
namespace {

void add_storage_direction(const Measurements& m, const std::string& direction,
                           ProfileJson& profile) {
    const Table* table = find_rows(m, "storage_" + direction);
    if (table == nullptr) return;
    const std::size_t best = row_of_largest(*table, "gb_per_s");
    const MeasuredRate rate = rate_at(*table, best, "gb_per_s", "low", "high");
    profile.set_number(fmt::format("storage.{}_gb_per_s", direction), rate.value, rate.range,
                       measured_here(m, *table,
                                     fmt::format("blocks of {:g} KiB, {:g} at a time, the best; {}",
                                                 table->at(best, "block_bytes") / 1024,
                                                 table->at(best, "queue_depth"), table->method)));
    std::vector<std::vector<double>> points;
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
        points.push_back({table->at(row, "block_bytes"), table->at(row, "queue_depth"),
                          table->at(row, "gb_per_s"), table->at(row, "low"),
                          table->at(row, "high")});
    }
    std::sort(points.begin(), points.end());
    profile.set_curve(fmt::format("storage.curve.{}_gb_per_s_by_block", direction),
                      {"block_bytes", "queue_depth", "gb_per_s", "low", "high"}, std::move(points),
                      measured_here(m, *table, table->method));
}

}  // namespace

void add_storage(const Measurements& measurements, ProfileJson& profile) {
    add_storage_direction(measurements, "read", profile);
    add_storage_direction(measurements, "write", profile);
}

/// Each table power_<work> of one row: watts with their range, and joules for what was done.
void add_power(const Measurements& measurements, ProfileJson& profile) {
    constexpr std::string_view kPrefix = "power_";
    for (const CaseRecord& record : measurements.cases) {
        for (const Table& table : record.tables) {
            if (!table.name.starts_with(kPrefix) || table.rows.empty()) continue;
            const std::string work = table.name.substr(kPrefix.size());
            const Origin origin = measured_here(measurements, table, table.method);
            for (const std::string& column : table.columns) {
                const double value = table.at(0, column);
                if (value <= 0 || column.ends_with("_low") || column.ends_with("_high")) continue;
                profile.set_number(
                    fmt::format("power.{}_{}", work, column == "watts" ? "w" : column), value,
                    range_at(table, 0, column + "_low", column + "_high"), origin);
            }
        }
    }
    if (measurements.facts.gpu_power_limit_w > 0)
        profile.set_number("power.limit_w", measurements.facts.gpu_power_limit_w, {},
                           measured_here(measurements, "in force while measuring"));
}

void add_gpu_interconnect(const Measurements& measurements, ProfileJson& profile) {
    const Table* copies = find_rows(measurements, "gpu_interconnect");
    if (copies == nullptr) return;
    const std::size_t row = row_of_largest(*copies, "bytes");
    const Origin origin = measured_here(
        measurements, *copies,
        fmt::format("copies of {:g} bytes; {}", copies->at(row, "bytes"), copies->method));
    const auto set = [&](const char* path, const std::string& ways) {
        profile.set_number(path, copies->at(row, ways + "_gb_per_s"),
                           range_at(*copies, row, ways + "_low", ways + "_high"), origin);
    };
    set("gpu_interconnect.measured_pair_one_way_gb_per_s", "one_way");
    set("gpu_interconnect.measured_pair_both_ways_gb_per_s", "both_ways");
    std::vector<std::vector<double>> points;
    for (const std::size_t i : ascending(*copies, "bytes"))
        points.push_back({copies->at(i, "bytes"), copies->at(i, "one_way_gb_per_s"),
                          copies->at(i, "both_ways_gb_per_s")});
    profile.set_curve("gpu_interconnect.curve.pair_gb_per_s_by_bytes",
                      {"bytes", "one_way_gb_per_s", "both_ways_gb_per_s"}, std::move(points),
                      origin);
}

}  // namespace sluice
