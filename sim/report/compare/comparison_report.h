// How is a comparison drawn? One comparison, or one a number of layers
// with the same systems in all; never none.
#pragma once

#include <span>
#include <string>

#include "sim/answers/compare/comparison.h"
#include "sim/report/bars.h"

namespace sluice {

/// A bar of tokens/s per system, with its band; grey if it does not fit.
BarChart comparison_bars(std::span<const Comparison> comparisons);

}  // namespace sluice
