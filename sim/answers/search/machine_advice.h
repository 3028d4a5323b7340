// Which of several machines is the best, each with its best settings?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/search/advise.h"

namespace sluice {

/// What an hour of a machine costs.
struct HourlyPrice {
    double usd = 0;      ///< of one GPU and its part of the machine
    std::string source;  ///< who asks it, and when
};

/// Advice for one of several machines, with its price; or why the machine was not asked.
struct MachineAdvice {
    std::string machine;
    std::optional<HourlyPrice> price;
    std::string left_out;  ///< "rents for 3.50 $ an hour, more than the 2.00 allowed"; else empty
    std::optional<Advice> advice;

    /// Dollars for a million tokens; nothing without a price or settings.
    std::optional<double> usd_per_million_tokens() const;
    bool is_choice() const {
        return advice && advice->best && advice->reaches_least && left_out.empty();
    }
};

/// The machine whose best settings train the most tokens a second, of those that are a choice;
/// nothing where none is.
const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines);
/// The one of those with a price that trains a million tokens for the least; nothing where none is.
const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines);
/// The other choices whose bands reach into that of the best machine, so that measurements could
/// turn the order round.
std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines);

}  // namespace sluice
