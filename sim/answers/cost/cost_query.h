// From a question about money to its answer: which price is taken, what else there is.
#pragma once

#include <optional>
#include <string>

#include "sim/answers/cost/run_cost.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {

/// What the costs of a machine rest on.
struct MachineMoney {
    PriceList prices;
    PowerSpec power;
    std::string unpriced;  ///< host memory that no price knows of: unpriced_memory()
};

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query);

/// The payment asked for, else the typical offer, else as an owner; nothing where no such price is
/// known. Throws InputError where an offer is unknown.
std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const Prediction& report);

/// `report` is of predict(), with its band.
CostAnswer answer_cost(const Prediction& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query);

}  // namespace sluice
