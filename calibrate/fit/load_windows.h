// What ran in each window of load, how fast, and how fast does it run alone?
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"

namespace sluice {

/// Lanes of the table mixed_load, indices of the arrays below. Adam runs on the last.
enum LoadLane : std::size_t { kCompute, kIn, kOut, kWork };
inline constexpr std::size_t kLanes = 4;
/// Columns of the lanes' rates.
inline constexpr std::array<const char*, kLanes> kRates = {"compute_per_s", "in_gb_per_s",
                                                           "out_gb_per_s", "adam_gparams_per_s"};

struct LoadWindow {
    std::size_t row = 0;
    double state_bytes = 0, threads = 0;
    std::array<bool, kLanes> runs{};
    std::array<double, kLanes> rate{};  ///< in the units of kRates; 0 where it does not run
    bool held_out = false;
    double calibration = 0;  ///< which of those pooled

    auto lanes() const { return std::count(runs.begin(), runs.end(), true); }
};

class LoadWindows {
  public:
    /// Throws InputError naming table, row and value where the rate of a lane that runs is not
    /// positive. `table` must outlive this.
    explicit LoadWindows(const Table& table);
    const std::vector<LoadWindow>& all() const { return windows_; }

    /// Rate of this window's lane in the nearest row of its own calibration where it runs alone, of
    /// those not held out (of Adam: same threads and state). Throws InputError where there is none.
    double alone(const LoadWindow& window, std::size_t lane) const;

    /// Gparam/s of Adam alone: the means of windows not held out, linear between their threads,
    /// constant outside; where this state has none, the nearest window held out. It is the
    /// mean over all calibrations, which a profile gives for another time.
    double alone_adam_by_threads(const LoadWindow& window) const;

  private:
    [[noreturn]] void wrong(std::size_t row, const std::string& what) const;
    LoadWindow read_row(std::size_t row) const;
    std::optional<double> nearest_alone(const LoadWindow& window, std::size_t lane,
                                        bool held_out) const;

    const Table& table_;
    std::vector<LoadWindow> windows_;
};

}  // namespace sluice
