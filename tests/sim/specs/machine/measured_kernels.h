// A profile with measured times of every kind of kernel and with shares that lanes keep, in round
// numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/specs/machine/kernel_table.h"
#include "tests/sim/specs/machine/small_profile.h"

namespace sluice {

inline KernelTable trend_only(std::vector<double> trend) {
    KernelTable table;
    table.trend = std::move(trend);
    return table;
}

/// 512 in every size, nothing added.
inline std::vector<double> row_of_512(KernelTableId id) {
    std::vector<double> row(kernel_columns(id).size(), 512);
    if (id <= KernelTableId::gemm_weight_gradient) row.back() = 0;
    return row;
}

/// As a profile has it: one shape of 512 measured at 2000 us; the trend is 1000 us a kernel of any
/// shape, which the weight makes 1000 exp(0.5) = 1649 there.
inline nlohmann::json kernel_entry(KernelTableId id) {
    std::vector<std::string> columns = kernel_columns(id);
    columns.insert(columns.end(), {"us", "us_low", "us_high", "weight"});
    std::vector<double> row = row_of_512(id);
    row.insert(row.end(), {2000, 1990, 2020, 0.5});
    nlohmann::json trend;
    for (const std::string& name : kernel_feature_names(id)) trend[name] = name == "us" ? 1000 : 0;
    return {{"columns", columns},
            {"points", {row}},
            {"trend", trend},
            {"length_doublings", 2},
            {"held_out",
             {{"shapes", 3},
              {"mean_error_percent", 1.5},
              {"worst_error_percent", 4},
              {"low_percent", -3},
              {"high_percent", 4}}},
            {"method", "measured"},
            {"source", "me"},
            {"date", "2026-01-02"}};
}

/// Columns: compute, in, out, GB/s of work, shares of compute, in, out, work.
inline nlohmann::json contention_entry() {
    nlohmann::json curve = measured_points({{0, 0, 1, 100, 1, 1, 0.9, 0.7},
                                            {0, 1, 0, 100, 1, 0.5, 1, 0.8},
                                            {0, 1, 1, 0, 1, 0.9, 0.8, 1},
                                            {0, 1, 1, 100, 1, 0.4, 0.7, 0.6}});
    curve["columns"] = {"compute",       "in",       "out",       "work_gb_per_s",
                        "compute_share", "in_share", "out_share", "work_share"};
    return curve;
}

inline nlohmann::json profile_with_kernels() {
    nlohmann::json profile = small_profile();
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        profile["kernels"][kernel_table_name(id)] = kernel_entry(id);
    }
    return profile;
}

}  // namespace sluice
