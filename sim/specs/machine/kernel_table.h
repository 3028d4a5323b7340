// How long does a kernel take at a shape that was not measured? A trend in its FLOPs and bytes,
// corrected by the kernels measured nearby.
//
//   seconds = trend . features  x  exp(sum over measured kernels i of weight_i exp(-|x - x_i| /
//   length))
//
// x are the logarithms (base 2) of the shape, so a distance of 1 is a doubling. Far from all that
// was measured the trend is left. The weights make it a kriging predictor with an exponential
// covariance (Rasmussen and Williams, Gaussian Processes for Machine Learning, eq. 2.25 and 4.14).
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/model/kernel.h"

namespace sluice {

/// Kinds of kernels with a table of their own, in the order of profiles.
#define SLUICE_KERNEL_TABLES(row)                                                               \
    row(gemm_forward) row(gemm_input_gradient) row(gemm_weight_gradient) row(attention_forward) \
        row(attention_backward) SLUICE_MEMORY_BOUND_WORK(row)
enum class KernelTableId : std::uint8_t { SLUICE_KERNEL_TABLES(SLUICE_ENUMERATOR) };

#define SLUICE_NAME(name) #name,
/// The name in a profile's kernels section: "gemm_forward".
inline constexpr const char* kKernelTableNames[] = {SLUICE_KERNEL_TABLES(SLUICE_NAME)};
#undef SLUICE_NAME
inline constexpr int kKernelTables = static_cast<int>(std::size(kKernelTableNames));
constexpr const char* kernel_table_name(KernelTableId id) {
    return kKernelTableNames[static_cast<std::size_t>(id)];
}

constexpr bool is_gemm(KernelTableId id) { return id <= KernelTableId::gemm_weight_gradient; }
constexpr bool is_attention(KernelTableId id) {
    return id == KernelTableId::attention_forward || id == KernelTableId::attention_backward;
}
/// The case of sluice-calibrate that measures it.
constexpr const char* kernel_table_case(KernelTableId id) {
    return is_gemm(id) ? "gemm" : is_attention(id) ? "attention" : "memory_bound";
}

/// The table for a kernel; empty for work that no table has.
std::optional<KernelTableId> kernel_table_of(const Kernel& kernel);

/// The columns that describe the shape in a table's row: gemm m, n, k, added; attention sequences,
/// sequence, heads, kv_heads, head_dim; all others rows, columns.
const std::vector<std::string>& kernel_columns(KernelTableId id);
/// The kernel of such a row. Precondition: one number a column, each at least 1 (`added` 0 or 1).
Kernel kernel_of_row(KernelTableId id, std::span<const double> row);

/// The features of a kernel's trend, with units in the names: us, us_per_gflop, ... .
const std::vector<std::string>& kernel_feature_names(KernelTableId id);
/// In units of kernel_feature_names(); `multiprocessors` as in GpuSpec.
std::vector<double> kernel_features(KernelTableId id, const Kernel& kernel, double multiprocessors);
/// Logarithms of the shape (base 2).
std::vector<double> kernel_coordinates(KernelTableId id, const Kernel& kernel);

struct KernelTable {
    std::vector<double> trend;            ///< microseconds per unit of each feature, all >= 0
    std::vector<std::vector<double>> at;  ///< coordinates of the measured kernels
    std::vector<double> weight;           ///< of the logarithms of their residuals
    double length = 1;                    ///< doublings

    bool empty() const { return trend.empty(); }
    /// The weight of a measured kernel at another shape: 1 at distance 0, falling with the
    /// distance.
    static double closeness(std::span<const double> a, std::span<const double> b, double length);
    /// Logarithm of time over trend, between -3 and 3.
    double residual(std::span<const double> coordinates) const;
    Seconds time(std::span<const double> features, std::span<const double> coordinates) const;
};

}  // namespace sluice
