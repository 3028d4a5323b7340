#include "calibrate/measurement/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"

namespace sluice {

void Table::add(std::vector<double> row) {
    if (row.size() != columns.size()) {
        throw InternalError(fmt::format("table {}: a row of {} numbers for {} columns", name,
                                        row.size(), columns.size()));
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!std::isfinite(row[i])) {
            throw InternalError(fmt::format("table {}, row {}: {} is {}, expected a finite number",
                                            name, rows.size(), columns[i], row[i]));
        }
    }
    rows.push_back(std::move(row));
}

std::size_t Table::column(std::string_view wanted) const {
    const auto found = std::find(columns.begin(), columns.end(), wanted);
    if (found == columns.end()) {
        throw InputError(
            fmt::format("table {}: no column {}{}", name, wanted, did_you_mean(wanted, columns)));
    }
    return static_cast<std::size_t>(found - columns.begin());
}

bool Table::has(std::string_view column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
}

}  // namespace sluice
