// Which loads are measured together, and in which order?
#pragma once

#include <vector>

#include "calibrate/cases/load_window.h"

namespace sluice {

/// The optimizer of one thread count and precision beside the others.
struct MixedGroup {
    int state_bytes = 12;
    int threads = 1;
    bool held_out = false;  ///< from the fit
    bool operator==(const MixedGroup&) const = default;
};

struct MixedMachine {
    bool is_gpu = false;
    int most_threads = 1;  ///< of the optimizer
    bool quick = false;
};

/// Each (state_bytes, threads) once; those of the same state_bytes follow one another.
std::vector<MixedGroup> mixed_groups(const MixedMachine& machine);

/// What runs in a group's windows: each load alone, then those together. On a GPU, where products
/// hardly use host memory, these are in only one group.
std::vector<LoadSet> mixed_windows(const MixedGroup& group, const MixedMachine& machine);

/// How often each is measured.
int mixed_rounds(const MixedGroup& group, const MixedMachine& machine);

/// About ten from 1 to `most`, evenly spread, with few threads and the last core (the other lanes'
/// threads want one) in more detail. Precondition: most >= 1.
std::vector<int> optimizer_thread_counts(int most);

/// A quarter, half, three quarters and all of `most`, and 1.
std::vector<int> few_optimizer_thread_counts(int most);

}  // namespace sluice
