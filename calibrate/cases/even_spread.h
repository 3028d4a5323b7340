// Which few of many shapes stand for all?
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// Sizes of a kernel, all 0 or more.
using ShapeSize = std::vector<std::int64_t>;

/// `count` of the candidates, or all; equal ones count as one. Each next is the one that most
/// lowers the mean squared distance from all candidates to the nearest chosen one, so the first few
/// are the best few; but every third is the one farthest from those chosen, so that the ends are
/// reached. Distance counts 1 for twice a size; a size of 0 is taken as half of 1.
std::vector<ShapeSize> spread_evenly(std::vector<ShapeSize> candidates, std::size_t count);

}  // namespace sluice
