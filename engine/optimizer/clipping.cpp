#include "engine/optimizer/clipping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"

namespace sluice {

std::optional<double> clip_factor(double norm, double limit) {
    if (!(limit > 0))
        throw InputError(
            fmt::format("gradient clipping: the limit is {}, expected above 0", limit));
    if (!std::isfinite(norm)) return std::nullopt;
    if (norm < 0)
        throw InternalError(fmt::format("gradient clipping: the norm is {}, below 0", norm));
    return std::min(1.0, limit / (norm + 1e-6));
}

}  // namespace sluice
