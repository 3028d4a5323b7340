// How long does a step take, and how much energy does the GPU take meanwhile? By the host's clock
// and the driver's counter.
#pragma once

#include <memory>
#include <optional>

#include "engine/machine/nvml.h"

namespace sluice {

class StepWatch {
  public:
    /// Before the first step, and whenever something else than a step was done. The first call
    /// finds the GPU that the calling thread is attached to.
    void restart();

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
    Reading read() const;

    std::unique_ptr<Nvml> gpu_;
    std::optional<Reading> last_;
    int steps_ = 0;
    Seconds seconds_ = 0;  ///< of the steps that count
    double joules_ = 0;
};

}  // namespace sluice
