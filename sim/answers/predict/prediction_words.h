// Which sentences say what limits a step, what is short, what would help and what is assumed?
#pragma once

#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"

namespace sluice {

/// "optimizer, 60% of the step's critical path; compute is busy 55% of the step".
std::string bottleneck_text(const Step& step);

/// "device needs 151.2 GB, has 139.8 GB (short 11.4 GB); largest: activations 88.0 GB".
std::string shortage_text(const Shortage& shortage, const BytesText& bytes = format_bytes);
/// One sentence for each memory that is too small.
std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes = format_bytes);

/// "no nearby setting fits: fewer --layers or a larger machine is needed".
std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes = format_bytes);
/// "H2D 61 GB/s (now 55.3; both ways 52, now 47) would hide the weights: 1.02 s a step".
std::string remedy_text(const Remedy& remedy);
/// "Lambda, rented, 2026-06": whose price an hour it is.
std::string hourly_cost_origin(const HourlyCost& cost);
/// The assumptions of the plan and of its time.
std::vector<std::string> assumptions(const TimedPlan& timed);

}  // namespace sluice
