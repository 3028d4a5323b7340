// From a question about money to its answer: which price is taken, what else there is.
#pragma once

#include <optional>
#include <string>

#include "sim/answers/cost/run_cost.h"

namespace sluice {

/// What the user says about money. At most one of offer, usd_per_hour and buy.
struct CostQuery {
    double tokens = 1e9;
    std::optional<std::string> offer;                  ///< by name
    std::optional<double> usd_per_hour;                ///< paid an hour, electricity included
    std::string usd_per_hour_flag = "--usd-per-hour";  ///< by which it was given
    bool buy = false;                                  ///< as an owner
    std::optional<double> price_usd;                   ///< of the whole machine, bought
    std::optional<double> host_w;                      ///< beside each GPU
    /// Of rented nodes, whose rents are for a GPU each; nothing: those that train.
    std::optional<double> gpus_paid;
    OwnerTerms terms;
};

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
