// How long does a kernel take at every shape, and how wrong is the fit at held-out shapes?
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "sim/specs/machine/kernel_table.h"

namespace sluice {

/// A shape that the fit used: measurements of the same shape are averaged.
struct FittedKernel {
    std::vector<double> shape;  ///< in the order of kernel_columns()
    double us = 0, us_low = 0, us_high = 0;
};

struct KernelFit {
    KernelTable table;
    std::vector<FittedKernel> fitted;
    FitError held_out;        ///< shapes that the fit did not use
    FitError leave_one_out;   ///< each fitted shape from the others; the trend uses all
    std::string worst_shape;  ///< the worst, with predicted and measured time; "" for none
    int noise_doublings =
        0;  ///< number of times that time did not rise with size; 40: only the trend is left
};

/// `measured` has kernel_columns(id), us, us_low, us_high (5th and 95th percentile) and held_out (0
/// or 1). The trend is non-negative least squares of kernel_features() in relative errors; with
/// fewer than four shapes only a constant and the feature that grows fastest. The residuals'
/// logarithms are kriged, with at least the measured noise, as table.time() evaluates it. Throws
/// InputError with table, row and value if a time or size is not positive and finite, or all rows
/// are held out.
KernelFit fit_kernel_table(KernelTableId id, const CaseTable& measured, double multiprocessors);

/// A shape that is slower than the shape with one size doubled, which no kernel is.
struct Decrease {
    std::size_t shape = 0;   ///< index
    std::string size;        ///< the doubled column
    std::vector<double> to;  ///< the shape with it doubled
    double us = 0, doubled_us = 0;
};

/// All such among `shapes` (kernel_columns()), each size doubled separately. Key heads are not
/// doubled beyond query heads.
std::vector<Decrease> check_monotone(KernelTableId id, const KernelTable& table,
                                     const std::vector<std::vector<double>>& shapes,
                                     double multiprocessors);

}  // namespace sluice
