// Which scenario of each group is the best? Plans all, simulates those that could be the best.
//
// A scenario is dropped only if its bound (step_bounds.h: no step is faster) shows that it trains
// fewer tokens per second than a simulated one of its group. In each group, the rows with the best
// bounds are simulated, some at a time, until no bound is better than the best simulated row. So
// the best is always found, and which rows are simulated depends only on the grid, not on the
// number of processes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/base/units.h"
#include "sim/plan/step_program.h"

namespace sluice {

enum class RowState : std::uint8_t {
    excluded,   ///< model, machine and settings are not valid together: why_excluded()
    too_large,  ///< planned; does not fit
    bounded,    ///< fits; a bound shows that it is not the best of its group, or it is not yet
                ///< simulated
    simulated,  ///< the step is that of sluice predict
};
const char* row_state_name(RowState state);

/// The state of one scenario in a search. Plain bytes, which processes share.
struct SearchRow {
    std::size_t index = 0;  ///< index in the grid
    RowState state = RowState::excluded;
    // Planned: set unless excluded.
    Bytes device_peak = 0, host_peak = 0, storage_peak = 0;
    Bytes device_short = 0, host_short = 0, storage_short = 0;
    // Set if it fits.
    Seconds at_least = 0;  ///< no step is faster; see step_bounds.h
    // Set if simulated.
    Seconds step = 0;
    Seconds step_low = 0, step_high = 0;  ///< 5 and 95%; 0 without a band
    Lane bottleneck = Work::compute;

    bool fits() const { return state == RowState::bounded || state == RowState::simulated; }
    bool has_band() const { return step_high > 0; }
    double tokens_per_s(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / step;
    }
    double tokens_per_s_at_most(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / at_least;
    }
};

/// Plans the scenario: whether it is excluded, whether it fits, and a bound on its speed. Takes
/// about a tenth of a millisecond. The caller sets its index.
SearchRow bound_scenario(const GridPoint& point);
/// The rule that an excluded scenario breaks; empty if it breaks none.
std::optional<InputError> why_excluded(const GridPoint& point);
/// Simulates a row that fits: the step is that of sluice predict with the same arguments, to the
/// bit. `with_band` adds its 5 to 95%, which takes ten more simulations.
SearchRow simulate_row(const SearchRow& row, const GridPoint& point, bool with_band);

/// Other settings are worth mentioning if their step takes at most this share of the time.
inline constexpr double kWorthChanging = 0.999;

enum class BandsOf { none, best, simulated };

struct SearchOptions {
    bool every_row = false;  ///< simulate all that fit
    BandsOf bands = BandsOf::best;
    /// A scenario is dropped if it could be better by no more than this share.
    double indifferent = 0;
    /// If set, a group that cannot come within this share of the best group is dropped after its
    /// first round.
    std::optional<double> rival;
    /// Scenarios of a group that are simulated before their bounds are compared again.
    std::size_t in_a_round = 4;
    int processes = 1;
};

/// The progress of a search: rows that will not change.
struct SearchProgress {
    std::size_t planned = 0, settled = 0, simulated = 0, all = 0;
};
using ShowProgress = std::function<void(const SearchProgress&)>;

/// The rows of the grid, by index; the same for any number of processes.
std::vector<SearchRow> search(const ScenarioGrid& grid, const SearchOptions& options,
                              const ShowProgress& show = {});

/// Index of the best row of a group: the most tokens per second; of equal ones the first. Empty if
/// none was simulated. `rows` are all rows of the grid.
std::optional<std::size_t> best_of_group(const ScenarioGrid& grid,
                                         const std::vector<SearchRow>& rows, std::size_t group);

}  // namespace sluice
