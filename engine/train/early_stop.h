// Has the loss on held-out data stopped falling, so that a run may end before its last step?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// That a checkpoint keeps.
struct EarlyStopState {
    std::optional<double> lowest = {};  ///< validation loss so far; empty before the first
    std::int64_t without_lower = 0;     ///< losses since then
    bool operator==(const EarlyStopState&) const = default;
};

/// As transformers' EarlyStoppingCallback does without a threshold.
class EarlyStop {
  public:
    /// Without `patience`, it is never over.
    explicit EarlyStop(std::optional<std::int64_t> patience) : patience_(patience) {}

    void continue_from(const EarlyStopState& state) { state_ = state; }
    /// Takes the next validation loss. One that is no number is not lower.
    void add(double loss);
    bool is_over() const { return patience_ && state_.without_lower >= *patience_; }
    const EarlyStopState& state() const { return state_; }
    /// Why it is over, a clause.
    std::string words() const;

  private:
    std::optional<std::int64_t> patience_;
    EarlyStopState state_;
};

}  // namespace sluice
