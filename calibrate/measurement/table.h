// What did a case measure? Rows of numbers, with the unit at the end of each column's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// For example `gemm_forward`: m, n, k, added, us, us_low, us_high, held_out.
struct Table {
    std::string name;
    std::string method;  ///< one sentence: how it was measured
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;

    /// Precondition: one number a column, all finite (InternalError).
    void add(std::vector<double> row);
    /// Throws InputError naming the table where there is no such column.
    std::size_t column(std::string_view wanted) const;
    bool has(std::string_view column) const;
    double at(std::size_t row, std::string_view wanted) const { return rows[row][column(wanted)]; }
};

}  // namespace sluice
