#include "calibrate/profile/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/units.h"

namespace sluice {

Origin measured_here(const Measurements& measurements, std::string note) {
    return {Method::measured, kCalibrationSource, measurements.date, std::move(note)};
}

MeasuredRows::MeasuredRows(const Measurements& measurements, std::string_view table)
    : measurements_(measurements), table_(measurements.find(table)) {
    if (table_ != nullptr && table_->rows.empty()) table_ = nullptr;
}

std::optional<RateRange> MeasuredRows::range(std::size_t row, const std::string& of) const {
    if (!table_->has(of + "low") || !table_->has(of + "high")) return std::nullopt;
    return RateRange{at(row, of + "low"), at(row, of + "high")};
}

std::size_t MeasuredRows::largest(std::string_view column) const {
    std::size_t best = 0;
    for (std::size_t row = 1; row < size(); ++row)
        if (at(row, column) > at(best, column)) best = row;
    return best;
}

std::vector<std::vector<double>> MeasuredRows::points(
    const std::vector<std::string>& columns) const {
    std::vector<std::vector<double>> points(size());
    for (std::size_t row = 0; row < size(); ++row)
        for (const std::string& column : columns) points[row].push_back(at(row, column));
    std::sort(points.begin(), points.end());
    return points;
}

Origin MeasuredRows::noted(const std::string& note) const {
    return {Method::measured, kCalibrationSource, measurements_.date_of(table_->name), note};
}

double gb_per_s(double bytes, double us) { return bytes / us * kMega / kGiga; }

void add_storage(const Measurements& measurements, ProfileJson& profile) {
    for (const char* direction : {"read", "write"}) {
        const MeasuredRows rows(measurements, fmt::format("storage_{}", direction));
        if (!rows) continue;
        const std::size_t best = rows.largest("gb_per_s");
        profile.set_number(fmt::format("storage.{}_gb_per_s", direction), rows.at(best, "gb_per_s"),
                           rows.range(best),
                           rows.origin(fmt::format("blocks of {:g} KiB, {:g} at a time, the best",
                                                   rows.at(best, "block_bytes") / 1024,
                                                   rows.at(best, "queue_depth"))));
        const std::vector<std::string> columns = {"block_bytes", "queue_depth", "gb_per_s", "low",
                                                  "high"};
        profile.set_curve(fmt::format("storage.curve.{}_gb_per_s_by_block", direction), columns,
                          rows.points(columns), rows.origin());
    }
}

/// Each table power_<work> with one row: watts with their range, and joules per unit of work.
void add_power(const Measurements& measurements, ProfileJson& profile) {
    constexpr std::string_view kPrefix = "power_";
    for (const CaseRecord& record : measurements.cases) {
        for (const CaseTable& table : record.tables) {
            const MeasuredRows rows(measurements, table.name);
            if (!table.name.starts_with(kPrefix) || !rows) continue;
            for (const std::string& column : table.columns) {
                const double value = rows.at(0, column);
                if (value <= 0 || column.ends_with("_low") || column.ends_with("_high")) continue;
                profile.set_number(fmt::format("power.{}_{}", table.name.substr(kPrefix.size()),
                                               column == "watts" ? "w" : column),
                                   value, rows.range(0, column + "_"), rows.origin());
            }
        }
    }
    if (measurements.facts.gpu_power_limit_w > 0)
        profile.set_number("power.limit_w", measurements.facts.gpu_power_limit_w, {},
                           measured_here(measurements, "in force while measuring"));
}

void add_gpu_interconnect(const Measurements& measurements, ProfileJson& profile) {
    const MeasuredRows rows(measurements, "gpu_interconnect");
    if (!rows) return;
    const std::size_t row = rows.largest("bytes");
    const Origin origin = rows.origin(fmt::format("copies of {:g} bytes", rows.at(row, "bytes")));
    for (const std::string ways : {"one_way", "both_ways"})
        profile.set_number(fmt::format("gpu_interconnect.measured_pair_{}_gb_per_s", ways),
                           rows.at(row, ways + "_gb_per_s"), rows.range(row, ways + "_"), origin);
    const std::vector<std::string> columns = {"bytes", "one_way_gb_per_s", "both_ways_gb_per_s"};
    profile.set_curve("gpu_interconnect.curve.pair_gb_per_s_by_bytes", columns,
                      rows.points(columns), origin);
}

namespace {

/// The first product after rest waits for the host.
constexpr std::size_t kFirst = 1, kHighest = 8;
/// A clock that falls less is not limited by power.
constexpr double kLeastSlowing = 1.01;

std::vector<double> column_of(const CaseTable& table, const char* column, std::size_t from,
                              std::size_t to) {
    std::vector<double> values;
    for (std::size_t row = from; row < to; ++row) values.push_back(table.at(row, column));
    return values;
}

}  // namespace

std::optional<ClockFit> fit_clock(const CaseTable& after_rest) {
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
    const MeasuredRows after_rest(m, "clock_after_rest"), bursts(m, "clock_bursts"),
        idle(m, "power_idle"), products(m, "power_gemm");
    if (!after_rest) return;
    const auto clock = fit_clock(*m.find("clock_after_rest"));
    if (!clock) return;
    profile.set_number(
        "kernels.rested_time_share", clock->time_share,
        RateRange{clock->time_share_low, clock->time_share_high},
        after_rest.origin(
            "times at the highest clock, which the tables have, of those at the power "
            "limit"));
    if (!bursts || !idle || !products) return;

    const double idle_w = idle.at(0, "watts"), limit_w = products.at(0, "watts");
    const double busy = bursts.at(0, "busy_share");
    const double rested_w = (bursts.at(0, "watts") - (1 - busy) * idle_w) / busy;
    if (rested_w <= limit_w) return;
    const Origin origin = bursts.origin(fmt::format(
        "large products at the highest clock, busy {:.0f}% of the time and idle the rest",
        100 * busy));
    profile.set_number("power.gemm_rested_w", rested_w, {}, origin);
    profile.set_number("power.gemm_rested_joules_per_tflop",
                       rested_w * clock->rested_us / kMega / after_rest.at(0, "tflop"), {}, origin);
    profile.set_number("power.headroom_j", clock->seconds_at_highest * (rested_w - limit_w), {},
                       after_rest.noted(fmt::format(
                           "{:.0f} ms at the highest clock from rest on, times the {:.0f} "
                           "W that products then draw beyond what they do at the limit",
                           1e3 * clock->seconds_at_highest, rested_w - limit_w)));
}

}  // namespace sluice
