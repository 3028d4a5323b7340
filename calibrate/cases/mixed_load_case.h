// Which loads are measured together, and in which order?
#pragma once

#include <vector>

#include "calibrate/cases/load_window.h"

namespace sluice {

/// The optimizer of one thread count and precision beside the others.
struct MixedGroup {
    int state_bytes = 12;
    int threads = 1;
    bool held_out = false;
    bool with_compute = false;  ///< products too
    int rounds = 2;             ///< measurements of each set
};

struct MixedMachine {
    bool is_gpu = false;
    int most_threads = 1;  ///< of the optimizer
    bool quick = false;
};

/// The fit's groups and those held out, each (state_bytes, threads) once, in order of state_bytes.
std::vector<MixedGroup> mixed_groups(const MixedMachine& machine);

/// Windows of a group: each load alone and the subsets. With two rounds the second runs backwards,
/// with one the loads alone run again at the end: so what a set's windows show is of the middle of
/// the group's time, whatever the set, and a machine that slows down evenly changes no ratio.
std::vector<LoadSet> mixed_windows(const MixedGroup& group, bool is_gpu);

}  // namespace sluice
