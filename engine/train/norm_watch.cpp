#include "engine/train/norm_watch.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr std::int64_t kMemory = 50, kFirstJudged = 5;  // steps
const double kTwice = std::log(2.0), kFourTimes = std::log(4.0);

}  // namespace

void NormWatch::add(std::int64_t step, double norm) {
    if (norm == 0) return;
    const double above = std::isfinite(norm) ? std::log(norm) - typical_log_ : INFINITY;
    const bool is_judged = seen_ >= kFirstJudged || !std::isfinite(above);
    if (is_judged && above > kTwice) {
        if (!above_since_) above_since_ = step;
        is_rise_ = is_rise_ || above > kFourTimes;
    } else {
        above_since_.reset();
        is_rise_ = false;
    }
    if (!std::isfinite(above)) return;
    typical_log_ += above / static_cast<double>(std::min(++seen_, kMemory));
}

std::optional<std::int64_t> NormWatch::rising_since() const {
    return is_rise_ ? above_since_ : std::nullopt;
}

}  // namespace sluice
