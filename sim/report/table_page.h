// Which columns of a table do people see?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/table.h"

namespace sluice {

/// The columns of a page, and the line below them: "in all rows: products bf16".
struct PageColumns {
    std::vector<std::size_t> columns;
    std::string in_all_rows;
};
PageColumns page_columns(const Table& table);

}  // namespace sluice
