// How much energy did a time of work take, by a counter that advances in steps?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {

/// A look at the counter while work goes on.
struct EnergySample {
    Seconds at = 0;
    double joules = 0;
    double done = 0;  ///< of the work, in its unit
};

struct EnergyReading {
    Seconds seconds = 0;
    double watts = 0;
    double watts_low = 0, watts_high = 0;  ///< 5th and 95th percentile of quarters of a second
    double done_per_s = 0;
};

/// Between the first and the last step of the counter: GPUs count on every 20 to 100 ms only, which
/// would be an error of 7% over 1.5 s. Nothing where it made fewer than two steps.
std::optional<EnergyReading> energy_reading(std::span<const EnergySample> samples);

/// The processors' own counters (RAPL, /sys/class/powercap/intel-rapl:N), of all packages.
class PackageEnergy {
  public:
    /// Nothing where there are none that this process may read: most systems let only root.
    static std::optional<PackageEnergy> open(SystemFiles files);

    /// Since open(). Counters start again from 0 after some 260 kJ: to be called at least every 5
    /// minutes.
    double joules();

  private:
    struct Package {
        std::string path;
        double range_uj = 0, last_uj = 0, sum_uj = 0;
    };
    explicit PackageEnergy(SystemFiles files) : files_(std::move(files)) {}

    SystemFiles files_;
    std::vector<Package> packages_;
};

}  // namespace sluice
