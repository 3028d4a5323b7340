// Which loads ran in each window, how fast is each alone, and which share of that rate does each
// lane have under contention?
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "sim/specs/machine/curves.h"

namespace sluice {

/// Lanes of the table mixed_load, as indices of the arrays below. Adam runs on the last.
enum LoadLane : std::size_t { kCompute, kIn, kOut, kWork };
inline constexpr std::size_t kLanes = 4;
/// Columns of the lanes' rates.
inline constexpr std::array<const char*, kLanes> kRates = {"compute_per_s", "in_gb_per_s",
                                                           "out_gb_per_s", "adam_gparams_per_s"};

struct LoadWindow {
    std::size_t row = 0;
    double state_bytes = 0, threads = 0;
    std::array<bool, kLanes> runs{};
    std::array<double, kLanes> rate{};  ///< in the units of kRates; 0 if it does not run
    bool held_out = false;
    double calibration = 0;  ///< index of the pooled measurement

    auto lanes() const { return std::count(runs.begin(), runs.end(), true); }
};

class LoadWindows {
  public:
    /// Throws InputError with table, row and value if the rate of a running lane is not positive.
    /// `table` must outlive this.
    explicit LoadWindows(const CaseTable& table);
    const std::vector<LoadWindow>& all() const { return windows_; }

    /// Rate of this window's lane alone, in the nearest row of its own calibration that is not held
    /// out (for Adam: same threads and state). Throws InputError if there is none.
    double alone(const LoadWindow& window, std::size_t lane) const;

    /// Gparam/s of Adam alone: the means of windows that are not held out, linear between their
    /// threads, constant outside; if this state has none, the nearest held-out window. It is the
    /// mean over all calibrations, as in a profile.
    double alone_adam_by_threads(const LoadWindow& window) const;

  private:
    [[noreturn]] void wrong(std::size_t row, const std::string& what) const;
    LoadWindow read_row(std::size_t row) const;
    std::optional<double> nearest_alone(const LoadWindow& window, std::size_t lane,
                                        bool held_out) const;

    const CaseTable& table_;
    std::vector<LoadWindow> windows_;
};

/// Bytes of host memory that the optimizer reads and writes for one parameter with a state of
/// `state_bytes`: the bf16 gradient read, the state read and written.
double adam_bytes_per_parameter(double state_bytes);

struct ContentionFit {
    std::vector<ContentionPoint> points;  ///< of all sets of lanes, ascending work
    /// By LoadLane: errors of rates in held-out windows with several lanes; the prediction is the
    /// alone rate times the share.
    std::array<FitError, kLanes> errors;
    std::string worst_window;  ///< the worst, with predicted and measured rate; "" for none
};

/// `windows` has state_bytes, threads, compute, in, out, adam_gparams_per_s, in_gb_per_s,
/// out_gb_per_s, compute_per_s, held_out: a window of load a row. compute, in and out (0 or 1) and
/// threads (0: no optimizer) say which lanes ran; rates of the others are not read. A window of one
/// lane is an alone rate.
///
/// Each share is of the alone rate (of Adam: same threads and state) in the nearest row, since a
/// virtual machine's rates drift. Over work, shares of copies in and of compute only fall; those of
/// copies out and of Adam rise or fall, whichever fits better: copies out gain where those in lose,
/// and more threads hold their share better (0.42 of 4 threads and 0.64 of 16 on one machine).
/// Where compute ran with fewer threads than the same lanes without it, its effect is taken to be
/// one factor a lane.
///
/// Errors: alone rates of Adam are interpolated over threads from windows not held out; where that
/// state has none, it is the nearest one held out. Throws InputError naming table, row and value
/// where a rate is not positive or an alone rate is missing.
ContentionFit fit_contention(const CaseTable& windows);

}  // namespace sluice
