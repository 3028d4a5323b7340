// How fast is each lane while others run, from windows of load?
#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/kernel_fit.h"
#include "calibrate/measurement/table.h"
#include "sim/machine/contention.h"

namespace sluice {

/// Bytes of host memory that the optimizer reads and writes for one parameter whose state takes
/// `state_bytes`: the bf16 gradient read, the state read and written.
double adam_bytes_per_parameter(double state_bytes);

struct ContentionFit {
    std::vector<ContentionPoint> points;
    /// Predicted rates over measured ones in the windows held out: alone rate, interpolated over
    /// threads from windows that are not, times the share.
    FitError adam, in, out, compute;
    std::string worst_window;  ///< of those held out, with predicted and measured rate; "" for none
};

/// `windows` has state_bytes, threads, compute, in, out, adam_gparams_per_s, in_gb_per_s,
/// out_gb_per_s, compute_per_s, held_out: a window of load a row. compute, in and out (0 or 1) and
/// threads (0: no optimizer) say which lanes ran; rates of those that did not are 0. A window with
/// one lane is an alone rate; each share is of the alone rate (same threads and state) that stands
/// nearest, as rates of a virtual machine drift. Throws InputError naming table, row and value where
/// a rate is not positive or an alone rate is missing.
ContentionFit fit_contention(const Table& windows);

}  // namespace sluice
