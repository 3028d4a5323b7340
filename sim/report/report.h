// How is a prediction, or a measured run, written: as sentences, one screen, JSON, a trace, a
// picture?
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
/// One a memory that is too small.
std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes = format_bytes);

/// "no nearby setting fits: fewer --layers or a larger machine is needed".
std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes = format_bytes);
/// "H2D 61 GB/s (now 55.3; both ways 52, now 47) would hide the weights: 1.02 s a step".
std::string remedy_text(const Remedy& remedy);
/// "Lambda, rented, 2026-06": who takes that an hour.
std::string hourly_cost_origin(const HourlyCost& cost);
/// What the plan rests on, and what its time rests on.
std::vector<std::string> assumptions(const TimedPlan& timed);

/// One screen.
std::string report_text(const Prediction& prediction);
std::string report_text(const TimedPlan& measured);
/// All of it, the operations only of a measured step; keys carry units.
std::string report_json(const Prediction& prediction);
std::string report_json(const TimedPlan& measured);
/// Chrome trace event format: opens in Perfetto (ui.perfetto.dev) and chrome://tracing.
std::string report_chrome_trace(const TimedPlan& timed);
/// The same of two runs of one plan, each lane of the one above the same lane of the other; both
/// start with the step's first compute operation.
std::string overlay_chrome_trace(const TimedPlan& predicted, const TimedPlan& measured);
/// Lanes over one steady step, with what compute waits for.
std::string report_svg(const TimedPlan& timed);
/// The operations of the plan, one a line.
std::string report_operations(const TimedPlan& timed);

}  // namespace sluice
