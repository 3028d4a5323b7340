// How long does a kernel take at every shape, from those measured, and how wrong is that at shapes
// that were measured but not used?
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "sim/specs/machine/kernel_table.h"

namespace sluice {

/// A shape that the fit used: measurements of the same shape are one, their mean.
struct FittedKernel {
    std::vector<double> shape;  ///< kernel_columns()
    double us = 0, us_low = 0, us_high = 0;
    double predicted_us = 0;  ///< by the fit, which knows `us`
};

struct KernelFit {
    KernelTable table;
    std::vector<FittedKernel> fitted;
    FitError held_out;        ///< shapes that the fit did not use
    FitError leave_one_out;   ///< each fitted shape from the others; the trend knows all
    std::string worst_shape;  ///< of those held out, with predicted and measured time; "" for none
    int noise_doublings = 0;  ///< that made time rise with size; 40: it does not, the trend falls
};

/// `measured` has kernel_columns(id), us, us_low, us_high (5th and 95th percentile) and held_out (0
/// or 1). The trend is non-negative least squares of kernel_features() in relative errors, with
/// fewer than four shapes only a constant and what grows fastest; the residuals' logarithms are
/// kriged, with at least the noise measured, as table.time() evaluates it. Throws InputError naming
/// table, row and value where a time or size is not positive and finite, or no row is to be fitted.
KernelFit fit_kernel_table(KernelTableId id, const CaseTable& measured, double multiprocessors);

/// Doubling one size of a shape makes it faster, which no kernel is.
struct Decrease {
    std::size_t shape = 0;   ///< index
    std::string size;        ///< the column doubled
    std::vector<double> to;  ///< the shape with it doubled
    double us = 0, doubled_us = 0;
};

/// All such among `shapes` (kernel_columns()), each size doubled alone. Heads of keys are not
/// doubled beyond those of queries.
std::vector<Decrease> check_monotone(KernelTableId id, const KernelTable& table,
                                     const std::vector<std::vector<double>>& shapes,
                                     double multiprocessors);

}  // namespace sluice
