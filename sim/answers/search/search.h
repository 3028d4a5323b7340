// Which scenario of each group is the best? Plans all, simulates those that could be.
//
// A scenario is dropped only where its bound (step_bounds.h: no step is faster) shows that it
// trains fewer tokens a second than one of its group that was simulated. In each group, rows with
// the best bounds are simulated, some at a time, until no bound is left that is better than
// the best simulated; so the best is always found, and which rows are simulated depends on the grid
// alone, not on the processes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/base/units.h"
#include "sim/plan/step_program.h"

namespace sluice {

enum class RowState : std::uint8_t {
    excluded,   ///< model, machine and settings do not go together: why_excluded()
    too_large,  ///< planned; does not fit
    bounded,    ///< fits; a bound shows that it is not the best of its group, or not yet simulated
    simulated,  ///< the step is what sluice predict says
};
const char* row_state_name(RowState state);

/// What a search knows of one scenario. Plain bytes, as processes share them.
struct SearchRow {
    std::size_t index = 0;  ///< in the grid
    RowState state = RowState::excluded;
    // Planned, all but excluded.
    Bytes device_peak = 0, host_peak = 0, storage_peak = 0;
    Bytes device_short = 0, host_short = 0, storage_short = 0;
    // Fits.
    Seconds at_least = 0;  ///< no step is faster; see step_bounds.h
    // Simulated.
    Seconds step = 0;
    Seconds step_low = 0, step_high = 0;  ///< 5 and 95%; 0 where the band was not asked for
    Lane bottleneck = Lane::compute;

    bool fits() const { return state == RowState::bounded || state == RowState::simulated; }
    bool has_band() const { return step_high > 0; }
    double tokens_per_s(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / step;
    }
    double tokens_per_s_at_most(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / at_least;
    }
};

/// Plans the scenario: whether it is excluded, fits, and how fast it is at best. About a tenth of
/// a millisecond. Its index is that of the caller.
SearchRow bound_scenario(const GridPoint& point);
/// The rule that an excluded scenario breaks; nothing where it breaks none.
std::optional<InputError> why_excluded(const GridPoint& point);
/// Simulates a row that fits: the step is that of sluice predict with the same arguments, to the
/// bit. `with_band` adds its 5 to 95%: ten more simulations.
SearchRow simulate_row(const SearchRow& row, const GridPoint& point, bool with_band);

/// Other settings are worth their mention where their step is at most this share.
inline constexpr double kWorthChanging = 0.999;

enum class BandsOf { none, best, simulated };

struct SearchOptions {
    bool every_row = false;  ///< simulate all that fit
    BandsOf bands = BandsOf::best;
    /// A scenario is dropped where it could be better by no more than this share.
    double indifferent = 0;
    /// Where set, a group in which nothing can come as near as this share to the best of all groups
    /// is left after its first round.
    std::optional<double> rival;
    /// Scenarios of a group that are simulated before their bounds are compared again.
    std::size_t in_a_round = 4;
    int processes = 1;
};

/// What a search has settled so far: rows that will not change.
struct SearchProgress {
    std::size_t planned = 0, settled = 0, simulated = 0, all = 0;
};
using ShowProgress = std::function<void(const SearchProgress&)>;

/// The rows of the grid, by index; the same whatever the processes.
std::vector<SearchRow> search(const ScenarioGrid& grid, const SearchOptions& options,
                              const ShowProgress& show = {});

/// Index of the best row of a group, or nothing where none was simulated: the most tokens a
/// second; of equal ones the first. `rows` are all rows of the grid.
std::optional<std::size_t> best_of_group(const ScenarioGrid& grid,
                                         const std::vector<SearchRow>& rows, std::size_t group);

}  // namespace sluice
