// How much power does work draw, by counters of energy: the GPU's and the processors'?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {

/// A reading of the counter during work.
struct EnergySample {
    Seconds at = 0;
    double joules = 0;
    double done = 0;  ///< of work, in its unit
};

struct EnergyReading {
    Seconds seconds = 0;
    double watts = 0;
    double watts_low = 0, watts_high = 0;  ///< 5th and 95th percentile of quarters of a second
    double done_per_s = 0;
};

/// Between the first and the last step of the counter: GPUs count only every 20 to 100 ms, which
/// would be an error of 7% over 1.5 s. Empty if it made fewer than two steps.
std::optional<EnergyReading> energy_reading(std::span<const EnergySample> samples);

/// The processors' own counters (RAPL, /sys/class/powercap/intel-rapl:N), of all packages.
class PackageEnergy {
  public:
    /// Empty if this process may not read any: most systems allow it only to root.
    static std::optional<PackageEnergy> open(SystemFiles files);

    /// Joules since open(). Counters restart from 0 after some 260 kJ, so call it at least every 5
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
