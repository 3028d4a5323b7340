#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "calibrate/measurement/statistics.h"
#include "calibrate/profile/sections.h"

namespace sluice {
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
