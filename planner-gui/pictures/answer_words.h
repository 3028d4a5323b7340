// Which one or two sentences does the window show about an answer?
#pragma once

#include <QStringList>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/validate/validation.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {

/// The same sentence with the fields of the form in place of flags.
inline QString window_text(const std::string& words) { return qtext(fields_for_flags(words)); }
inline QString without_flags(const QString& words) { return window_text(words.toStdString()); }

/// "If copies to the GPU ran at 82 GB/s instead of 55.4, compute would no longer wait for the
/// weights; a step would take 9.16 s."
QString remedy_sentence(const Remedy& remedy);

/// Why a scenario cannot be predicted, or which memory is short; empty if it fits.
QString reason_text(const ScenarioValue& value, ByteUnits units);
/// "device short 11.4 GB, host short 3.0 GB"; empty if it fits.
QString short_text(const TimedPlan& report, ByteUnits units);

/// Sentences about who is faster, then which systems were left out and why.
QStringList comparison_sentences(const Comparison& comparison);
/// Speed and limit of one system, or its shortage and the settings that would fit.
QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units);

/// "28 runs: mean error of tokens/s 2.1%, most +6.0% (14b ...); 24 of 28 steps within the predicted
/// 5 to 95%".
QString validation_sentence(const Validation& validation);

}  // namespace sluice
