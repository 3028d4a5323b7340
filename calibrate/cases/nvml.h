// What does NVIDIA's management library (libnvidia-ml, part of the driver) say of a GPU: energy,
// power, clocks, why they are low, temperature, who else uses it?
//
// It is loaded at run time and only read: nothing here changes a setting. What the library, the
// driver or the GPU lacks is no value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {

/// Why clocks are below their most (nvmlClocksEventReasons), each a bit.
namespace clock_events {
inline constexpr std::uint64_t kIdle = 0x1;
inline constexpr std::uint64_t kSoftwarePowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kPowerBrake = 0x80;
}  // namespace clock_events

/// Programs with a context on the GPU, except this one.
struct OtherGpuPrograms {
    int count = 0;
    double memory_bytes = 0;  ///< of those whose memory the driver reports
};

class Nvml {
  public:
    /// The GPU at this PCI address ("0000:1b:00.0", as CUDA gives it); null if there is no library
    /// or no such GPU.
    static std::unique_ptr<Nvml> open(const std::string& pci_bus_id);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    std::optional<std::string> driver_version() const;
    std::optional<double> energy_j() const;       ///< since the driver was loaded
    std::optional<double> power_limit_w() const;  ///< in force
    std::optional<double> sm_clock_mhz() const;
    std::optional<std::uint64_t> clock_event_bits() const;  ///< of clock_events
    std::optional<double> temperature_c() const;
    std::optional<double> slowdown_temperature_c()
        const;                                 ///< the hardware slows down from this temperature on
    std::optional<double> busy_share() const;  ///< over the last sample period (0.2 to 1 s)
    /// Precondition: this process has a context on the GPU (its Device was made).
    std::optional<OtherGpuPrograms> other_programs() const;
    /// Whether NVLink connects this GPU and the other.
    std::optional<bool> nvlink_to(const Nvml& other) const;

  private:
    struct Library;
    Nvml(std::shared_ptr<const Library> library, void* device);
    /// The value that a function of the library returns; empty if it is missing or fails.
    template <typename Value, typename... Which>
    std::optional<Value> read(const char* name, Which... which) const;

    std::shared_ptr<const Library> library_;
    void* device_;
};

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
