// What does the start page say about a way that it proposes?
#pragma once

#include <QStringList>

#include "planner-gui/session/start_question.h"

namespace sluice {

/// What a reader must know about it: deadline and budget, also at the slow end of the band, and a
/// host that is assumed.
QStringList start_warnings(const StartQuestion& question, const StartCandidate& one);

/// Where the model is kept, the speed, and what is paid for.
QString start_explanation(const StartCandidate& one);

}  // namespace sluice
