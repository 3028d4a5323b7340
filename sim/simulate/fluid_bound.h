// In what least time can given amounts of work be done, in any order? A linear program, solved by
// its dual: every point of the dual is a lower bound, and the best one is the minimum.
#pragma once

#include <vector>

namespace sluice {

/// A mode of the machine: the progress of each kind of work per second, and the cost of that second
/// (1: it counts as time; 0: it is accounted for otherwise).
struct WorkMode {
    std::vector<double> progress;  ///< one per kind of work; may be negative
    double cost = 1;
};

/// Least total cost of times x >= 0 in the modes in which every kind of work gets done:
///
///   minimize sum cost_j x_j   subject to   sum_j progress_ji x_j >= work_i
///
/// By weak duality any u >= 0 with sum_i progress_ji u_i <= cost_j for all j gives sum_i work_i u_i
/// as a lower bound. Found with the simplex method on the dual, which starts at u = 0 and may stop
/// anywhere; the result is scaled back into those inequalities, so that rounding does not void it.
/// Work below 0 counts as 0. Precondition: costs are at least 0.
///
/// Own code, since GLPK 5.0 takes 64 us for 24 modes and 6 kinds of work, and this 5 to 9 (measured
/// together, same results to 3e-15). A search bounds each of its rows: 10,080 rows on two cores
/// would take 0.3 s longer than their 1.9 s.
double least_cost(const std::vector<WorkMode>& modes, const std::vector<double>& work);

}  // namespace sluice
