// Which scenario of each group is the best? Plans all, simulates those that could be.
//
// A scenario is dropped only where its bound (step_bounds.h: no step is faster) shows that it
// trains fewer tokens a second than one of its group that was simulated. Of each group, those with
// the best bounds are simulated, some at a time, until no bound is left that is better than
// the best simulated; so the best is always found, and which rows are simulated depends on the grid
// alone, not on the workers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/answers/search/search_row.h"
#include "sim/answers/search/worker_pool.h"

namespace sluice {

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
};

/// What a search has settled so far: rows that will not change.
struct SearchProgress {
    std::size_t settled = 0, simulated = 0, all = 0;
};

/// Rows that an earlier run of the same search simulated, by index: not simulated again. What a
/// search returns does not depend on them. One whose bound or memory is another by now counts as
/// unknown.
using KnownRows = std::map<std::size_t, SearchRow>;

struct SearchEvents {
    std::function<void(const SearchRow&)> simulated;  ///< a row has its step; again with its band
    std::function<void(const SearchProgress&)> progress;
};

/// Index of the best row of a group, or nothing where none was simulated: the most tokens a
/// second; of equal ones the first. `rows` are all rows of the grid.
std::optional<std::size_t> best_of_group(const ScenarioGrid& grid,
                                         const std::vector<SearchRow>& rows, std::size_t group);

/// The rows of the grid, by index. Workers must answer with search_work() of the same grid.
std::vector<SearchRow> search(const ScenarioGrid& grid, WorkerPool& pool,
                              const SearchOptions& options, const KnownRows& known = {},
                              const SearchEvents& events = {});

/// Simulates these rows of the grid, which fit; with their bands where those are asked for. In the
/// order given.
std::vector<SearchRow> simulate_rows(WorkerPool& pool, const std::vector<SearchRow>& rows,
                                     bool with_bands);

/// What workers of a search do. Precondition: the grid outlives it.
Work search_work(const ScenarioGrid& grid);

}  // namespace sluice
