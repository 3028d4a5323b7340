// How long does a step take, and how much energy does the GPU take meanwhile? By the host's clock
// and the driver's counter.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/device/device.h"
#include "engine/machine/nvml.h"

namespace sluice {

/// Joules since some time; empty if they cannot be read.
using EnergyCounter = std::function<std::optional<double>()>;
/// Reads the counter of a GPU; it may be null.
EnergyCounter energy_counter(std::shared_ptr<const Nvml> gpu);

class StepWatch {
  public:
    using Clock = std::function<Seconds()>;
    explicit StepWatch(Clock clock = host_seconds) : clock_(std::move(clock)) {}
    void read_energy(EnergyCounter joules) { counter_ = std::move(joules); }

    /// Before the first step, and whenever something else than a step was done.
    void restart() { last_ = read(); }

    struct Passed {
        Seconds seconds = 0;
        std::optional<double> gpu_joules;  ///< empty without a GPU or counter
    };
    /// Since the last call or restart(). Precondition: restart() was called.
    Passed after_step();

    /// Mean power of the steps so far, except the first three, during which the GPU warms up; empty
    /// if they took less than two seconds, as the counter advances every 20 to 100 ms.
    std::optional<double> gpu_watts() const;

  private:
    struct Reading {
        Seconds at = 0;
        std::optional<double> joules;
    };
    Reading read() const { return {clock_(), counter_()}; }

    Clock clock_;
    EnergyCounter counter_ = [] { return std::nullopt; };
    std::optional<Reading> last_;
    int steps_ = 0;
    Seconds seconds_ = 0;  ///< of the steps that count
    double joules_ = 0;
};

}  // namespace sluice
