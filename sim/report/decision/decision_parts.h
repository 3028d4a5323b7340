// Which pictures does the page of a decision show?
#pragma once

#include <string>

#include "sim/answers/decision/decision.h"

namespace sluice {

/// SVG within figures: bars, memory, cost against speed and, of the chosen machine, a step and
/// upgrades.
std::string pictures(const Decision& decision);

}  // namespace sluice
