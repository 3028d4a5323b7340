// Since which step has the gradient's norm been rising, so that checkpoints from there on are
// suspect?
#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// Compares each norm with the typical one: the mean of its logarithm, over all steps at first,
/// then mostly over the last kMemory. A rise is a row of steps with more than twice the typical
/// norm, of which one had more than four times it.
class NormWatch {
  public:
    /// Of each step in turn, as it was before clipping; infinite if it is not known.
    void add(std::int64_t step, double norm);
    /// The first step of the rise that lasts; empty if there is none.
    std::optional<std::int64_t> rising_since() const;

  private:
    std::int64_t seen_ = 0;
    double typical_log_ = 0;
    bool is_rise_ = false;
    std::optional<std::int64_t> above_since_;  ///< twice the typical norm
};

}  // namespace sluice
