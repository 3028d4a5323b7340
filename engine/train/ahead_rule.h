// May the updates of the next step begin before its norm is known (--clipping auto)?
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace sluice {

/// The part of its clipping that a run remembers, in checkpoints too.
struct AheadState {
    bool allowed = false;         ///< the run gains by updates that begin early
    std::int64_t calm_steps = 0;  ///< the last ones, of which none was clipped
    /// How many steps ago such updates were corrected, within AheadRule::kWindow.
    std::vector<std::int64_t> corrected_ago = {};
    bool operator==(const AheadState&) const = default;
};

/// A step that began early and clips is corrected: its updates are taken back and done again. The
/// optimizer then has more work, by 1.7 times that of all updates at most, which is at
/// most 1.7 steps that wait. So any kWindow steps take 1.7% longer at most, whatever the
/// gradients do. The plan may give up 0.5% more by its prediction,
/// sim/answers/predict/step_ahead.h.
class AheadRule {
  public:
    static constexpr std::int64_t kCalm = 4, kWindow = 200, kMostCorrected = 2;  // steps

    explicit AheadRule(AheadState state = {}) : state_(std::move(state)) {}

    bool next_is_ahead() const;
    /// Each step in turn: whether its updates began early, and whether it was clipped.
    void add(bool ahead, bool clipped);
    const AheadState& state() const { return state_; }

  private:
    AheadState state_;
};

}  // namespace sluice
