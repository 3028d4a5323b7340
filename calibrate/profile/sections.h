// Which numbers of a profile does each table of measurements give?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/make_profile.h"
#include "calibrate/profile/profile_json.h"

namespace sluice {

/// The key in a profile's sources for what this program measured.
inline constexpr const char* kCalibrationSource = "calibration";

/// The origin of facts about the machine. `note`: how they are known, in one sentence.
Origin measured_here(const Measurements& measurements, std::string note);

/// The rows of one table, and their origin for a profile.
class MeasuredRows {
  public:
    /// False if the table is missing or has no rows.
    MeasuredRows(const Measurements& measurements, std::string_view table);
    explicit operator bool() const { return table_ != nullptr; }

    std::size_t size() const { return table_->rows.size(); }
    double at(std::size_t row, std::string_view column) const { return table_->at(row, column); }
    /// The columns <of>low and <of>high of a row; empty if the table lacks them.
    std::optional<RateRange> range(std::size_t row, const std::string& of = "") const;
    /// The row with the largest value in a column.
    std::size_t largest(std::string_view column) const;
    /// These columns of all rows, ascending.
    std::vector<std::vector<double>> points(const std::vector<std::string>& columns) const;
    /// With the date of the table's case and its method.
    Origin origin() const { return noted(table_->method); }
    Origin origin(const std::string& what) const { return noted(what + "; " + table_->method); }
    /// The same with a note in place of the method.
    Origin noted(const std::string& note) const;

  private:
    const Measurements& measurements_;
    const CaseTable* table_;
};

/// Each adds the measured numbers of its section; missing tables add nothing.
void add_gpu(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile);
void add_link(const Measurements& measurements, ProfileJson& profile);
void add_host(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile);
void add_storage(const Measurements& measurements, ProfileJson& profile);
void add_power(const Measurements& measurements, ProfileJson& profile);
void add_clock(const Measurements& measurements, ProfileJson& profile);
void add_gpu_interconnect(const Measurements& measurements, ProfileJson& profile);

struct ClockFit {
    double rested_us = 0;  ///< of one product at the highest clock
    double limit_us = 0, limit_us_low = 0, limit_us_high = 0;  ///< at the power limit
    double time_share = 1, time_share_low = 1,
           time_share_high = 1;      ///< time of that product at the limit
    Seconds seconds_at_highest = 0;  ///< from rest on; time at clocks between counts in part
};
/// From the table clock_after_rest. Empty if the clock does not fall.
std::optional<ClockFit> fit_clock(const CaseTable& after_rest);

/// GB/s of that many bytes in that many microseconds.
double gb_per_s(double bytes, double us);

}  // namespace sluice
