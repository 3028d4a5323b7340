#include "engine/train/early_stop.h"

#include <fmt/format.h>

#include "sim/base/format.h"

namespace sluice {

void EarlyStop::add(double loss) {
    if (state_.lowest ? loss < *state_.lowest : loss == loss)
        state_ = {loss, 0};
    else
        ++state_.without_lower;
}

std::string EarlyStop::words() const {
    return fmt::format("the last {} had no lower validation loss than {:.4f} before",
                       format_number_of(state_.without_lower, "evaluation"),
                       state_.lowest.value_or(0));
}

}  // namespace sluice
