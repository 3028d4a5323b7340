// Which data does a profile have on one kind of kernel? The measured shapes, the trend through
// them, and its errors on held-out shapes.
#pragma once

#include <string>
#include <vector>

#include "sim/base/json_object.h"
#include "sim/specs/machine/kernel_table.h"

namespace sluice {

/// The errors at held-out shapes: predicted / measured - 1.
struct HeldOutError {
    int shapes = 0;
    double mean_percent = 0, worst_percent = 0;  ///< of the absolute errors
    double low_percent = 0, high_percent = 0;    ///< 5th and 95th percentile
};

/// One measured shape; `row` has the columns of kernel_columns().
struct KernelPoint {
    std::vector<double> row;
    double us = 0, us_low = 0, us_high = 0;  ///< median, 5th and 95th percentile
    double weight = 0;                       ///< see KernelTable
};

struct KernelMeasurement {
    KernelTableId id = KernelTableId::gemm_forward;
    std::vector<KernelPoint> points;
    std::vector<double> trend;  ///< the features of kernel_feature_names()
    double length_doublings = 1;
    HeldOutError held_out;

    KernelTable table() const;
};

/// Reads and checks `kernels.<id>`: every time is positive and plausible, and larger work is not
/// faster. Throws InputError: file, field, value, expectation, how to measure it again.
KernelMeasurement read_kernel_measurement(const JsonObject& object, KernelTableId id);

/// Throws InputError if trend and weights do not reproduce the measurements within a factor of 4,
/// since they then belong to others. `where` begins the message.
void check_predictions(const KernelMeasurement& measured, double multiprocessors,
                       const std::string& where);

}  // namespace sluice
