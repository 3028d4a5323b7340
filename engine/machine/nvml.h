// Which facts does NVIDIA's management library (libnvidia-ml, part of the driver) give of a GPU:
// energy, power, clocks, why they are low, temperature, faults, who else uses it?
//
// It is loaded at run time and only read: nothing here changes a setting. A fact that the library,
// the driver or the GPU lacks is empty.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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
    /// Errors of its memory that were found and not corrected, since the driver was loaded.
    std::optional<std::uint64_t> uncorrected_memory_errors() const;
    /// Whether a broken row of its memory waits for the next reset to be replaced.
    std::optional<bool> row_remapping_pending() const;
    /// The Xid, the driver's number of an error, of the first fault since the object was made;
    /// waits up to `most` for one.
    std::optional<std::uint64_t> fault(Seconds most) const;
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
    void* faults_ = nullptr;  ///< the set of its events
};

}  // namespace sluice
