// What is a scenario worth? First what its plan says without simulating, then what a simulation
// does.
#pragma once

#include "sim/answers/search/scenario_grid.h"
#include "sim/answers/search/search_row.h"

namespace sluice {

/// Plans the scenario: whether it is excluded, fits, and how fast it is at best. About a tenth of
/// a millisecond.
SearchRow bound_scenario(const GridPoint& point);

/// Simulates a row that fits, in a process of its own: the step is that of sluice predict with the
/// same arguments, to the bit. `with_band` adds its 5 to 95%: ten more simulations.
SearchRow simulate_row(const SearchRow& row, const GridPoint& point, bool with_band);

}  // namespace sluice
