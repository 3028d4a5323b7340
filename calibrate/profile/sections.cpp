#include "calibrate/profile/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "calibrate/measurement/statistics.h"
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

namespace {

/// The first product after rest waits for the host.
constexpr std::size_t kFirst = 1, kHighest = 8;
/// A clock that falls less is not limited by power.
constexpr double kLeastSlowing = 1.01;

std::vector<double> column_of(const Table& table, const char* column, std::size_t from,
                              std::size_t to) {
    std::vector<double> values;
    for (std::size_t row = from; row < to; ++row) values.push_back(table.at(row, column));
    return values;
}

}  // namespace

std::optional<ClockFit> fit_clock(const Table& after_rest) {
    const std::size_t rows = after_rest.rows.size();
    if (rows < 4 * (kFirst + kHighest)) return std::nullopt;
    const Sample highest = summarize(column_of(after_rest, "us", kFirst, kFirst + kHighest));
    const Sample limit = summarize(column_of(after_rest, "us", rows - rows / 4, rows));
    if (limit.median < kLeastSlowing * highest.median) return std::nullopt;
    ClockFit fit;
    fit.rested_us = highest.median;
    fit.limit_us = limit.median;
    fit.limit_us_low = limit.low;
    fit.limit_us_high = limit.high;
    fit.time_share = highest.median / limit.median;
    fit.time_share_low = highest.low / limit.high;
    fit.time_share_high = highest.high / limit.low;
    for (const double us : column_of(after_rest, "us", 0, rows)) {
        const double fallen = (us - highest.median) / (limit.median - highest.median);
        fit.seconds_at_highest += (1 - std::clamp(fallen, 0.0, 1.0)) * us / kMega;
    }
    return fit;
}

void add_clock(const Measurements& m, ProfileJson& profile) {
    const Table* after_rest = find_rows(m, "clock_after_rest");
    const Table* bursts = find_rows(m, "clock_bursts");
    const Table *idle = find_rows(m, "power_idle"), *products = find_rows(m, "power_gemm");
    if (after_rest == nullptr) return;
    const auto clock = fit_clock(*after_rest);
    if (!clock) return;
    profile.set_number(
        "kernels.rested_time_share", clock->time_share,
        Range{clock->time_share_low, clock->time_share_high},
        measured_here(m, *after_rest,
                      "times at the highest clock, which the tables have, of those at the power "
                      "limit; " +
                          after_rest->method));
    if (bursts == nullptr || idle == nullptr || products == nullptr) return;

    const double idle_w = idle->at(0, "watts"), limit_w = products->at(0, "watts");
    const double busy = bursts->at(0, "busy_share");
    const double rested_w = (bursts->at(0, "watts") - (1 - busy) * idle_w) / busy;
    if (rested_w <= limit_w) return;
    const Origin origin = measured_here(
        m, *bursts,
        fmt::format("large products at the highest clock, busy {:.0f}% of the time and idle the "
                    "rest; {}",
                    100 * busy, bursts->method));
    profile.set_number("power.gemm_rested_w", rested_w, {}, origin);
    profile.set_number("power.gemm_rested_joules_per_tflop",
                       rested_w * clock->rested_us / kMega / after_rest->at(0, "tflop"), {},
                       origin);
    profile.set_number(
        "power.headroom_j", clock->seconds_at_highest * (rested_w - limit_w), {},
        measured_here(m, *after_rest,
                      fmt::format("{:.0f} ms at the highest clock from rest on, times the {:.0f} W "
                                  "that products then draw beyond what they do at the limit",
                                  1e3 * clock->seconds_at_highest, rested_w - limit_w)));
}

}  // namespace sluice
