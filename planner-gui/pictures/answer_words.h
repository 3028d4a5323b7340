// What does the window say of an answer in one or two sentences?
#pragma once

#include <QStringList>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

/// Why a scenario cannot be predicted, or what is short; empty where it fits.
QString reason_text(const ScenarioValue& value, ByteUnits units);
/// "device short 11.4 GB, host short 3.0 GB"; empty where it fits.
QString short_text(const TimedPlan& report, ByteUnits units);

/// Who is faster, then who was left out and why.
QStringList comparison_sentences(const Comparison& comparison);
/// What one of them does, or what is short and what would fit.
QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units);

/// "28 runs: tokens/s off by 2.1% in the mean, most +6.0% (14b ...); 24 of 28 steps in the band".
QString validation_sentence(const Validation& validation);

}  // namespace sluice
