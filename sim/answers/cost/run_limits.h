// Does a run end in time and within the budget?
#pragma once

#include <string>
#include <vector>

#include "sim/answers/cost/cost.h"

namespace sluice {

/// "the deadline and the budget", "the deadline", "the budget"; "" for none.
std::string limits_name(const RunLimits& limits);
/// " in 30 days for at most $20,000"; "" for none.
std::string limits_words(const RunLimits& limits);

bool ends_in_time(const RunLimits& limits, const RunCost& run);
/// `priced`: the dollars of the run are known. Without them no budget is met.
bool meets(const RunLimits& limits, const RunCost& run, bool priced);

/// The same of the payment that was taken.
inline bool meets(const CostAnswer& cost) {
    return meets(cost.limits, cost.run, cost.payment.has_value());
}

/// The most tokens of a run that meets the limits, within RunCost::most_hours. Infinite for a rent
/// without limits; 0 where the budget does not pay what must be paid at once, or no price is known.
double tokens_within(const RunLimits& limits, const RunCost& run, bool priced);
/// The same run of another number of tokens.
RunCost run_of_tokens(RunCost run, double tokens);

/// A sentence on each limit that the run misses, or may miss by its 5 to 95%.
std::vector<std::string> limit_warnings(const RunLimits& limits, const RunCost& run, bool priced);
inline std::vector<std::string> limit_warnings(const CostAnswer& cost) {
    return limit_warnings(cost.limits, cost.run, cost.payment.has_value());
}

}  // namespace sluice
