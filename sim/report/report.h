// How is a prediction, or a measured run, written: as one screen, JSON, a trace?
#pragma once

#include <string>

#include "sim/answers/predict/prediction_words.h"

namespace sluice {

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
/// The operations of the plan, one a line.
std::string report_operations(const TimedPlan& timed);

}  // namespace sluice
