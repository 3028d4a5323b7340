// How are the rows of a sweep written?
#pragma once

#include <string>
#include <vector>

#include "sim/answers/search/search.h"

namespace sluice {

/// The keys of all columns, in their order.
std::vector<std::string> sweep_columns();

/// One line of JSON, with its line break; keys carry units. Missing values have no key. `best`: the
/// best of its group. Only the columns with these `keys`, in the order of `keys`.
std::string row_json(const SearchRow& row, const GridPoint& point, bool best,
                     const std::vector<std::string>& keys);

/// The keys, and a row; missing values are empty.
std::string csv_header(const std::vector<std::string>& keys);
std::string row_csv(const SearchRow& row, const GridPoint& point, bool best,
                    const std::vector<std::string>& keys);

}  // namespace sluice
