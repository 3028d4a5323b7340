// How does a question about money become an answer: which price applies, and which others are
// there?
#pragma once

#include <optional>
#include <string>

#include "sim/answers/cost/run_cost.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {

/// The data of a machine's costs.
struct MachineMoney {
    PriceList prices;
    PowerSpec power;
    std::string unpriced;  ///< host memory that no price includes: unpriced_memory()
};

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query);

/// The payment of the query, else the typical offer, else the owner's; empty if no such price is
/// known. Throws InputError if an offer is unknown.
std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const Prediction& report);

/// `report` is a result of predict() with its band.
CostAnswer answer_cost(const Prediction& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query);

}  // namespace sluice
