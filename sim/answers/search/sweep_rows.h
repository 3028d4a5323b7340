// How are the rows of a sweep written, and read back where it goes on?
#pragma once

#include <string>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/answers/search/search_row.h"

namespace sluice {

/// One line of JSON, with its line break; keys carry units. Keys of what a row lacks are left out.
/// `best`: of its group.
std::string row_json(const SearchRow& row, const GridPoint& point, bool best);

/// The names of the columns, and a row; what it lacks is empty.
std::string csv_header();
std::string row_csv(const SearchRow& row, const GridPoint& point, bool best);

/// Reads what row_json() wrote of a simulated row of that scenario. Throws InputError where the
/// line is of another scenario or damaged; `where` is file and line.
SearchRow parse_row(const std::string& line, const ScenarioGrid& grid, const std::string& where);

}  // namespace sluice
