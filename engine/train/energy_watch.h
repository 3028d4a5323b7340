// How much energy does the GPU take while it trains? By the driver's counter.
#pragma once

#include <memory>
#include <optional>

#include "engine/machine/nvml.h"

namespace sluice {

class EnergyWatch {
  public:
    /// Of the GPU that the calling thread is attached to; nothing is read without one, or where the
    /// driver has no counter.
    EnergyWatch();
    /// After each step: joules since the last call or pause(); empty without a counter.
    std::optional<double> after_step();
    /// What was done since the last step is not training.
    void pause();
    /// Mean power of the steps so far, except the first three, during which the GPU warms up; empty
    /// if they took less than two seconds, as the counter advances every 20 to 100 ms.
    std::optional<double> watts() const;

  private:
    struct Reading {
        Seconds at = 0;
        double joules = 0;
    };
    std::optional<Reading> read() const;

    std::unique_ptr<Nvml> gpu_;
    std::optional<Reading> last_;
    int steps_ = 0;
    Reading sum_;  ///< over the steps that count
};

}  // namespace sluice
