// Which pictures show what a search found?
#pragma once

#include "sim/answers/search/machine_choice.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/report/bars.h"

namespace sluice {

/// Two plots: tokens/s over dollars an hour, and over dollars per million tokens, of the machines
/// that do it and have a price.
Picture machine_choices_picture(const MachineChoices& choices);

/// A bar an upgrade, in their order; grey where its band reaches 0 or less.
BarChart upgrade_bars(const Sensitivity& sensitivity);
/// The gain of one with its band, with which settings, and what limits then.
std::string upgrade_sentence(const Upgrade& upgrade);
/// What the machine is bound by, what gains most, and what limits then.
std::string sensitivity_sentence(const Sensitivity& sensitivity);
/// "+1.2%"; no "-0.0%".
std::string gain_text(double gain);

}  // namespace sluice
