// How is a comparison shown: text, JSON, CSV, a chart? One comparison, or one a number of layers
// with the same systems in all; never none.
#pragma once

#include <span>
#include <string>

#include "sim/answers/compare/comparison.h"
#include "sim/report/compare/speed_bars.h"

namespace sluice {

/// Of one comparison a row a system; of several a row a number of layers and a column a system.
std::string comparison_text(std::span<const Comparison> comparisons);
/// Keys carry units. Times of what does not fit are as if it did, without a band.
std::string comparison_json(std::span<const Comparison> comparisons);
/// A line a system and number of layers, with the same times.
std::string comparison_csv(std::span<const Comparison> comparisons);
/// A bar a system of its tokens/s, with its band; grey, as if it did fit, where it does not.
SpeedBars comparison_bars(std::span<const Comparison> comparisons);
std::string comparison_svg(std::span<const Comparison> comparisons);

}  // namespace sluice
