// How fast is each of several loads while all of them run (copies in, copies out, the optimizer,
// products)? Which sets of loads are measured together, and in which order?
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "calibrate/cases/optimizer_load.h"
#include "engine/device/device.h"
#include "sim/base/units.h"

namespace sluice {

struct LoadSet {
    bool compute = false, in = false, out = false, work = false;
    bool operator==(const LoadSet&) const = default;
};

/// Memory that a lane copies between, chunk after chunk and again from the start.
struct CopyLoad {
    char* host = nullptr;    ///< (bytes)
    char* device = nullptr;  ///< (bytes)
    Bytes bytes = 0;
    Bytes chunk = 0;  ///< at most bytes
};

/// The loads that can run. Only those in the set are used.
struct Loads {
    CopyLoad in, out;
    OptimizerLoad* optimizer = nullptr;
    /// Enqueues a product on the compute lane; call = 0, 1, 2, ...
    std::function<void(std::int64_t)> product;
};

/// Work per second of each load in the window; 0 if it did not run.
struct LoadRates {
    double parameters = 0;
    double in_bytes = 0, out_bytes = 0;
    double products = 0;
};

/// Units per second from `begin` to `end`: completions[0] is the start of the first unit,
/// completions[i] the end of the i-th, ascending; between them work progresses evenly. Throws
/// InternalError if they do not reach from `begin` to `end`.
double completed_per_second(std::span<const Seconds> completions, Seconds begin, Seconds end);

/// Runs the loads of `set`, each in its own thread, and counts the units of each for `window`
/// seconds, starting `warm_up` after all have begun. None ends before all are past the window.
/// Precondition: nobody else uses the device's lanes or events.
LoadRates run_loads(Device& device, const Loads& loads, LoadSet set, Seconds warm_up,
                    Seconds window);

/// One thread count and precision of the optimizer, with the other loads.
struct MixedGroup {
    int state_bytes = 12;
    int threads = 1;
    bool held_out = false;  ///< held out of the fit
    bool operator==(const MixedGroup&) const = default;
};

struct MixedMachine {
    bool is_gpu = false;
    int most_threads = 1;  ///< of the optimizer
    bool quick = false;
    bool has_products = true;
};

/// Each (state_bytes, threads) once; those with the same state_bytes follow one another.
std::vector<MixedGroup> mixed_groups(const MixedMachine& machine);

/// The loads in a group's windows: each load alone, then sets of loads. Products, which hardly use
/// host memory on a GPU, are then in only one group.
std::vector<LoadSet> mixed_windows(const MixedGroup& group, const MixedMachine& machine);

/// How often each is measured.
int mixed_rounds(const MixedGroup& group, const MixedMachine& machine);

/// About ten numbers from 1 to `most`, evenly spread, and denser for few threads and at the last
/// core (which the other lanes' threads want). Precondition: most >= 1.
std::vector<int> optimizer_thread_counts(int most);

/// A quarter, half, three quarters and all of `most`, and 1.
std::vector<int> few_optimizer_thread_counts(int most);

}  // namespace sluice
