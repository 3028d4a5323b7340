// How are the rows of a sweep written?
#pragma once

#include <string>

#include "sim/answers/search/search.h"

namespace sluice {

/// One line of JSON, with its line break; keys carry units. Keys of what a row lacks are left out.
/// `best`: of its group.
std::string row_json(const SearchRow& row, const GridPoint& point, bool best);

/// The names of the columns, and a row; what it lacks is empty.
std::string csv_header();
std::string row_csv(const SearchRow& row, const GridPoint& point, bool best);

}  // namespace sluice
