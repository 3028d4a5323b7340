// The parts of the page of a decision; each is HTML, or SVG within a figure.
#pragma once

#include <string>

#include "sim/answers/decision/decision.h"

namespace sluice {

/// A row a machine. Numbers stand in <data> elements whose value has all digits.
std::string machines_table(const Decision& decision);
/// Of each machine the options that differ from their defaults, as flags.
std::string settings_list(const Decision& decision);
/// A row a system on the chosen machine; nothing where none was chosen.
std::string systems_table(const Decision& decision);
/// A row an upgrade: gain with its band, speed, what limits then, with which settings.
std::string upgrades_table(const Sensitivity& upgrades);
/// What predictions and costs assume, each sentence once, with the machines that rest on it.
std::string assumption_lists(const Decision& decision);
/// A row a number of the profile; estimates are marked.
std::string sources_table(const Candidate& candidate);

/// Bars, memory, cost against speed and, of the chosen machine, a step and upgrades.
std::string pictures(const Decision& decision);

}  // namespace sluice
