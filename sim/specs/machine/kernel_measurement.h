// What does a profile say of one kind of kernel? The measured shapes, the trend through them and
// how well it predicts others.
#pragma once

#include <string>
#include <vector>

#include "sim/base/json_object.h"
#include "sim/specs/machine/kernel_table.h"

namespace sluice {

/// What is predicted of what was measured but not fitted: predicted / measured - 1.
struct HeldOutError {
    int shapes = 0;
    double mean_percent = 0, worst_percent = 0;  ///< of the absolute errors
    double low_percent = 0, high_percent = 0;    ///< 5th and 95th percentile
};

/// One measured shape. `row` is as kernel_columns() says.
struct KernelPoint {
    std::vector<double> row;
    double us = 0, us_low = 0, us_high = 0;  ///< median, 5th and 95th percentile
    double weight = 0;                       ///< see KernelTable
};

struct KernelMeasurement {
    KernelTableId id = KernelTableId::gemm_forward;
    std::vector<KernelPoint> points;
    std::vector<double> trend;  ///< as kernel_feature_names()
    double length_doublings = 1;
    HeldOutError held_out;

    KernelTable table() const;
};

/// Reads and checks `kernels.<id>`: every time positive, none absurd, larger work not quicker.
/// Throws InputError: file, field, value, expected, how to measure it again.
KernelMeasurement read_kernel_measurement(const JsonObject& object, KernelTableId id);

/// Throws InputError where trend and weights do not give the measurements back within a factor of
/// 4: they are of others. `where` is what the message begins with.
void check_predictions(const KernelMeasurement& measured, double multiprocessors,
                       const std::string& where);

}  // namespace sluice
