// What limits a step, and which memory is too small, in words?
#pragma once

#include "sim/base/format.h"
#include "sim/plan/step.h"

namespace sluice {

/// "optimizer, 60% of the step's critical path; compute is busy 55% of the step".
std::string bottleneck_text(const Step& step);
/// "device needs 151.2 GB, has 139.8 GB (short 11.4 GB); largest: activations 88.0 GB".
std::string shortage_text(const Shortage& shortage, const BytesText& bytes = format_bytes);
/// One sentence for each memory that is too small.
std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes = format_bytes);

}  // namespace sluice
