// How are the micro-batches of a layer copied to and from the host?
#pragma once

#include <cstdint>

namespace sluice {

/// One by one or, if there are many, several at once, so that a plan has a bounded number of
/// operations. The first and the last one of a pass stay alone: one casts the weights, the other
/// completes the gradients.
class CopiesOfAPass {
  public:
    explicit CopiesOfAPass(std::int64_t micro_batches) : micro_batches_(micro_batches) {
        // The two places of what comes back take a sixteenth of what a pass has.
        constexpr std::int64_t kMost = 32;
        const std::int64_t between = micro_batches_ - 2;
        if (micro_batches_ > kMost) largest_ = (between + kMost - 3) / (kMost - 2);
    }
    std::int64_t count() const { return of(micro_batches_ - 1) + 1; }
    /// Micro-batches of a copy, the most.
    std::int64_t largest() const { return largest_; }
    /// The copy that has micro-batch `j` of the step.
    std::int64_t of(std::int64_t j) const {
        const std::int64_t turn = j % micro_batches_, last = micro_batches_ - 1;
        if (turn == 0 || largest_ == 1) return turn;
        return 1 + (turn - 1) / largest_ + (turn == last && (turn - 1) % largest_ != 0 ? 1 : 0);
    }

  private:
    std::int64_t micro_batches_, largest_ = 1;
};

}  // namespace sluice
