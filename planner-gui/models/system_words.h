// What does a comparison of systems say in the window?
#pragma once

#include <QStringList>

#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/compare/comparison.h"

namespace sluice {

/// Who is faster, then who was left out and why.
QStringList comparison_sentences(const Comparison& comparison);

/// What one of them does, or what is short and what would fit.
QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units);

}  // namespace sluice
