#include "engine/train/ahead_rule.h"

#include <iterator>

namespace sluice {

bool AheadRule::next_is_ahead() const {
    return state_.allowed && state_.calm_steps >= kCalm &&
           std::ssize(state_.corrected_ago) < kMostCorrected;
}

void AheadRule::add(bool ahead, bool clipped) {
    for (std::int64_t& ago : state_.corrected_ago) ++ago;
    if (ahead && clipped) state_.corrected_ago.push_back(1);
    // A window that ends with the next step does not reach further back.
    std::erase_if(state_.corrected_ago, [](std::int64_t ago) { return ago >= kWindow; });
    state_.calm_steps = clipped ? 0 : state_.calm_steps + 1;
}

}  // namespace sluice
