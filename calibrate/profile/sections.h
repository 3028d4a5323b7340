// Which numbers of a profile does each table of measurements give?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/machine_fits.h"
#include "calibrate/profile/profile_json.h"

namespace sluice {

/// The key in a profile's sources of what this program measured.
inline constexpr const char* kCalibrationSource = "calibration";

/// What the machine says of itself. `note`: how, in one sentence.
Origin measured_here(const Measurements& measurements, std::string note);
/// From a table, on the day of its case.
Origin measured_here(const Measurements& measurements, const Table& table, std::string note);

/// Each adds what was measured; tables that are missing add nothing.
void add_gpu(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile);
void add_link(const Measurements& measurements, ProfileJson& profile);
void add_host(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile);
void add_storage(const Measurements& measurements, ProfileJson& profile);
void add_power(const Measurements& measurements, ProfileJson& profile);
void add_clock(const Measurements& measurements, ProfileJson& profile);
void add_gpu_interconnect(const Measurements& measurements, ProfileJson& profile);

/// How a GPU's clock falls when it is at work.
struct ClockFit {
    double rested_us = 0;  ///< of one product at the highest clock
    double limit_us = 0, limit_us_low = 0, limit_us_high = 0;        ///< at the power limit
    double time_share = 1, time_share_low = 1, time_share_high = 1;  ///< of that at the limit
    Seconds seconds_at_highest = 0;  ///< from rest on; time at clocks between counts in part
};
/// From the table clock_after_rest. Nothing where the clock does not fall.
std::optional<ClockFit> fit_clock(const Table& after_rest);

/// Numbers of a row as a rate with its range: the columns `value`, `low` and `high`.
struct MeasuredRate {
    double value = 0;
    Range range;
};
MeasuredRate rate_at(const Table& table, std::size_t row, const char* value, const char* low,
                     const char* high);
/// Nothing where the table lacks the columns.
std::optional<Range> range_at(const Table& table, std::size_t row, const std::string& low,
                              const std::string& high);
/// GB/s of so many bytes in so many microseconds.
double gb_per_s(double bytes, double us);
/// Rows of a table in ascending order of a column.
std::vector<std::size_t> ascending(const Table& table, const char* column);
/// Row of the largest value in a column. Precondition: there is a row.
std::size_t row_of_largest(const Table& table, const char* column);
/// Nothing where the table is missing or has no rows.
const Table* find_rows(const Measurements& measurements, std::string_view table);

}  // namespace sluice
