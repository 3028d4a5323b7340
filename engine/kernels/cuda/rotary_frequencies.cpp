#include "engine/kernels/cuda/rotary_frequencies.h"

#include <fmt/format.h>

#include "engine/kernels/rotary_frequencies.h"
#include "sim/base/input_error.h"

namespace sluice {
std::array<float, kMostRotaryPairs> rotary_frequencies(const RotaryShape& rotary,
                                                       std::int64_t head_dim) {
    if (head_dim < 2 || head_dim % 2 != 0 || head_dim > 2 * kMostRotaryPairs) {
        throw InputError(fmt::format(
            "model: head_dim is {}, expected an even number up to {} for rotary position embedding "
            "on the GPU; choose another model",
            head_dim, 2 * kMostRotaryPairs));
    }
    std::array<float, kMostRotaryPairs> frequencies{};
    for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
        frequencies[static_cast<std::size_t>(pair)] = rotary_frequency(rotary, head_dim, pair);
    return frequencies;
}

}  // namespace sluice
