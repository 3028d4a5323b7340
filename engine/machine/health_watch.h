// Which faults does the machine have while a run goes on: does the host swap, has the GPU's memory
// errors, which fault did the driver log?
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/machine/nvml.h"

namespace sluice {

/// Unknown values are empty.
struct GpuHealth {
    std::optional<std::uint64_t> uncorrected_errors;
    std::optional<bool> remapping_pending;
};

class HealthWatch {
  public:
    /// `gpu` may give nothing. Reads /proc below `root`.
    explicit HealthWatch(std::function<GpuHealth()> gpu, std::string root = "/");

    /// Warnings about what is new since the last call, a sentence each. Takes some file reads.
    std::vector<std::string> news();

  private:
    std::function<GpuHealth()> gpu_;
    std::string root_;
    Bytes told_swapped_;
    GpuHealth told_;
};

/// Reads these of a GPU; `gpu` may be null.
std::function<GpuHealth()> health_of(std::shared_ptr<const Nvml> gpu);

/// "Xid 79 (the GPU has fallen off the bus)": what the driver's number of an error means, as
/// NVIDIA's catalog of Xid errors says.
std::string xid_words(std::uint64_t xid);

}  // namespace sluice
