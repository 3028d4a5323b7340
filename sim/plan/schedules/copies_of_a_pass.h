// How are the micro-batches of a layer copied to and from the host?
#pragma once

#include <cstdint>

#include "sim/plan/placement.h"

namespace sluice {

/// One by one or, if there are many, several at once, so that a plan has a bounded number of
/// operations. The first and the last one of a pass stay alone: one casts the weights, the other
/// completes the gradients.
class CopiesOfAPass {
  public:
    explicit CopiesOfAPass(const TrainingSpec& training)
        : micro_batches_(training.micro_batches_of_a_pass()) {
        // The two places of what comes back take a sixteenth of what a pass has.
        constexpr std::int64_t kMost = 32;
        const std::int64_t between = micro_batches_ - 2;
        if (micro_batches_ > kMost) largest_ = (between + kMost - 3) / (kMost - 2);
    }
    std::int64_t count() const { return of(micro_batches_ - 1) + 1; }
    /// Micro-batches of a copy, the most.
    std::int64_t largest() const { return largest_; }
    /// The copy that has micro-batch `j` of the step, and its place in it.
    std::int64_t of(std::int64_t j) const {
        const std::int64_t turn = j % micro_batches_, last = micro_batches_ - 1;
        if (turn == 0 || largest_ == 1) return turn;
        return 1 + (turn - 1) / largest_ + (turn == last && (turn - 1) % largest_ != 0 ? 1 : 0);
    }
    std::int64_t place_of(std::int64_t j) const {
        const std::int64_t turn = j % micro_batches_;
        return turn == 0 || turn + 1 == micro_batches_ ? 0 : (turn - 1) % largest_;
    }

  private:
    std::int64_t micro_batches_, largest_ = 1;
};

/// Checkpoints that come back use two places in turn: how many come before the micro-batch's?
inline std::int64_t coming_back_turn(const Placement& homes, const CopiesOfAPass& copies, int layer,
                                     std::int64_t micro_batch) {
    return (homes.sections.layers - 1 - layer) * copies.count() + copies.of(micro_batch);
}

/// Kept tensors that leave use two places on the device in turn, in forward and again in backward:
/// how many copies of this pass and direction come before that of the micro-batch? Precondition:
/// the layer keeps on the host.
enum class Direction : std::uint8_t { forward, backward };
inline std::int64_t kept_turn(const Placement& homes, const CopiesOfAPass& copies,
                              Direction direction, int layer, std::int64_t micro_batch) {
    const int lower = homes.home(layer, Plane::kept_feed_forward).turn;
    const int before = direction == Direction::forward ? lower : homes.kept_on_host - 1 - lower;
    return before * copies.count() + copies.of(micro_batch);
}

}  // namespace sluice
