#include "sim/specs/machine/adam_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/base/units.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {
namespace {

/// Parameters/s that a thread updates by its own work, on the H200 machine: 24.8 GB/s with 12
/// bytes of state. With 6 it is slower, since moments of 8 bits are work for the processor.
double of_a_thread(std::int64_t state_bytes) {
    return (state_bytes == 12 ? 0.955 : state_bytes == 8 ? 1.1 : 0.52) * kGiga;
}

/// Another thread has to add at least this share.
constexpr double kWorthAThread = 0.01;

}  // namespace

Interpolated AdamRule::by_threads(std::int64_t state_bytes) const {
    const double thread = of_a_thread(state_bytes) * adam_traffic(state_bytes);
    const auto rate = [&](double threads) {
        const double own = threads * thread;
        return known > 0 ? std::min(known, own) : 1 / (1 / own + 1 / memory);
    };
    std::vector<std::pair<double, double>> points = {{1, rate(1)}};
    for (double threads = 2; threads <= cores; ++threads) {
        const double more = rate(threads);
        if (more < (1 + kWorthAThread) * points.back().second) break;
        points.emplace_back(threads, more);
    }
    return Interpolated(std::move(points));
}

std::string AdamRule::sentence() const {
    const double thread = of_a_thread(12) * adam_traffic(12) / kGiga;
    if (known > 0)
        return fmt::format(
            "the optimizer moves {:.1f} GB/s a thread, as on the H200 machine, up "
            "to the {:.0f} GB/s of its own rate",
            thread, known / kGiga);
    return fmt::format(
        "the optimizer's time is that of a thread on the H200 machine ({:.1f} GB/s) "
        "plus that of {:.0f} GB/s of host memory",
        thread, memory / kGiga);
}

}  // namespace sluice
