// How fast is each of several loads while all of them run: copies in, copies out, the optimizer,
// products?
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

/// What there is to run. Only what the set asks for is used.
struct Loads {
    CopyLoad in, out;
    OptimizerLoad* optimizer = nullptr;
    /// Enqueues a product on the compute lane; call = 0, 1, 2, ...
    std::function<void(std::int64_t)> product;
};

/// Work per second of each load in the window; 0 where it did not run.
struct LoadRates {
    double parameters = 0;
    double in_bytes = 0, out_bytes = 0;
    double products = 0;
};

/// Units a second from `begin` to `end`: completions[0] is when the first unit began,
/// completions[i] when the i-th was done, ascending; between them work advances evenly. Throws
/// InternalError where they do not reach from `begin` to `end`.
double completed_per_second(std::span<const Seconds> completions, Seconds begin, Seconds end);

/// Runs the loads of `set`, each by a thread of its own, and counts what each completes from
/// `warm_up` after all have begun for `window` seconds. None ends before all are past the window.
/// Precondition: nobody else uses the device's lanes or events.
LoadRates run_loads(Device& device, const Loads& loads, LoadSet set, Seconds warm_up,
                    Seconds window);

}  // namespace sluice
