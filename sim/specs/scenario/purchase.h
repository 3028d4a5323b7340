// How much does it cost to buy the machines that a plan needs, and when does that pay off against a
// rent? Machines are bought whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

struct Purchase {
    double usd = 0;
    double gpus = 0;  ///< of the machines
    std::string origin = {};
    std::vector<std::string> inputs = {};  ///< paths of the profile's numbers
    std::optional<GivenPrice> given = {};
    /// A sentence about a part whose price is not known, and the flag that gives it; then `usd` is
    /// not the whole price.
    std::string missing = {};
};

/// The price that the query gives, else of whole systems, else of nodes and their GPUs. A price
/// that is not known is missing, never zero.
Purchase purchase(const PriceList& prices, const CostQuery& query, const NodeShare& share);

/// As an owner pays it. Precondition: nothing is missing.
Payment bought(const Purchase& purchase, const NodeShare& share, const OwnerTerms& terms);

/// As who has the machine already pays it: electricity alone, with all its GPUs.
Payment owned(const CostQuery& query, const NodeShare& share);

/// When a purchase has cost no more than a rent.
struct BreakEven {
    double months = 0;  ///< of ownership
    double hours = 0;   ///< of training in them
};
/// Each hour of training saves the rent less the owner's electricity; the savings pay the price
/// with its interest, without residual value: price = savings a year x (1 - e^(-r t)) / r with r =
/// ln(1 + interest). Empty if they never do.
std::optional<BreakEven> break_even(double rent_usd_per_hour, double electricity_usd_per_hour,
                                    double price_usd, const OwnerTerms& terms);

/// The cost of that rate over the hours of training of so many months, in dollars of the day of the
/// purchase: interest makes later payments smaller. A purchase and a rent that differ by the price
/// are equal at break_even().
double cost_today(double usd_per_hour, double months, const OwnerTerms& terms);

}  // namespace sluice
