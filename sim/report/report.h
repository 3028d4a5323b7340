// How is a prediction or a measured run written: as text, JSON, a trace? Which of its texts do
// other answers use?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/report/table.h"

namespace sluice {

/// The text of `sluice predict`, one screen.
std::string report_text(const Prediction& prediction);
std::string report_text(const TimedPlan& measured);
/// The whole report as JSON, whose keys carry units. Operations only of a measured step.
std::string report_json(const Prediction& prediction);
std::string report_json(const TimedPlan& measured);
/// One row per lane with operations; people see times and shares of the step.
Table lanes_table(const Step& step);
/// A row a setting that was chosen: the step with the asked value in its place.
Table plan_choice_table(const PlanChoice& choice);
/// Chrome trace event format: opens in Perfetto (ui.perfetto.dev) and chrome://tracing.
std::string report_chrome_trace(const TimedPlan& timed);
/// Traces of two runs of one plan, each lane next to the same lane of the other. Both start with
/// the step's first compute operation.
std::string overlay_chrome_trace(const TimedPlan& predicted, const TimedPlan& measured);
/// The first lines of report_text(): what is planned, and whether it fits.
std::string report_heading(const Prediction& prediction);
/// The operations of the plan, one per line.
std::string report_operations(const TimedPlan& timed);
/// report_json() with the operations.
std::string report_operations_json(const Prediction& prediction);

/// Whose settings the prediction has: "settings     as its users run it: checkpoint_interval 4", a
/// line of the text. Empty for our own plan.
std::string settings_line(const Prediction& prediction);

/// "1,208 tokens/s (5 to 95%: 1,150 to 1,260)"; without the brackets if there is no band.
std::string speed_text(const Prediction& prediction);
/// The ends of the band; absent if there is none.
Cell range_of(const Banded& number);
/// tokens_per_s and, if there is a band, its ends.
void add_speed_json(nlohmann::ordered_json& out, const TimedPlan& timed,
                    const std::optional<Band>& band);
/// "device 43.0 GB, host 101.2 GB": the peaks.
std::string memory_text(const TimedPlan& timed);
/// The values of options by field: numbers, and names of choices. `own`: only options that the
/// schedule has.
nlohmann::ordered_json training_json(const TrainingSpec& training, bool own);

/// "no nearby setting fits: a smaller model or a larger machine is needed".
std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes = format_bytes);
/// "fits with --batch 8 (device 61.2 GB, host 430.9 GB)".
std::string suggestion_text(const Suggestion& one, const BytesText& bytes = format_bytes);
/// A line for each suggestion, or that there is none; empty where none was looked for.
std::vector<std::string> fitting_words(const StepAdvice& advice);
/// How the machine of that name lacks memory, and the settings that would fit.
std::string misfit_sentence(const std::string& name, const Prediction& prediction);
/// "copies to the GPU at 61 GB/s (now 55.3; both ways 52, now 47) would hide the weights: 1.02 s a
/// step".
std::string remedy_text(const Remedy& remedy);
/// The assumptions of the plan and of the simulated or measured step.
std::vector<std::string> assumptions(const TimedPlan& timed);
/// The first few assumptions as lines of a screen, and how many more there are.
std::string assumption_lines(const std::vector<std::string>& sentences);

}  // namespace sluice
