// How fast is each lane while others run, from windows of load?
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "calibrate/measurement/statistics.h"
#include "sim/specs/machine/curves.h"

namespace sluice {

/// Bytes of host memory that the optimizer reads and writes for one parameter whose state takes
/// `state_bytes`: the bf16 gradient read, the state read and written.
double adam_bytes_per_parameter(double state_bytes);

struct ContentionFit {
    std::vector<ContentionPoint> points;  ///< of all sets of lanes, ascending work
    /// Errors of rates in held-out windows with several lanes: the alone rate times the
    /// share.
    FitError adam, in, out, compute;
    std::string worst_window;  ///< of those held out, with predicted and measured rate; "" for none
};

/// `windows` has state_bytes, threads, compute, in, out, adam_gparams_per_s, in_gb_per_s,
/// out_gb_per_s, compute_per_s, held_out: a window of load a row. compute, in and out (0 or 1) and
/// threads (0: no optimizer) say which lanes ran; rates of the others are not read. A window of one
/// lane is an alone rate.
///
/// Each share is of the alone rate (of Adam: same threads and state) in the nearest row, since a
/// virtual machine's rates drift. Over work, shares of copies in and of compute only fall; those of
/// copies out and of Adam rise or fall, whichever fits better: copies out gain where those in lose,
/// and more threads hold their share better (0.42 of 4 threads and 0.64 of 16 on one machine).
/// Where compute ran with fewer threads than the same lanes without it, its effect is taken to be
/// one factor a lane.
///
/// Errors: alone rates of Adam are interpolated over threads from windows not held out; where that
/// state has none, it is the nearest one held out. Throws InputError naming table, row and value
/// where a rate is not positive or an alone rate is missing.
ContentionFit fit_contention(const Table& windows);

}  // namespace sluice
