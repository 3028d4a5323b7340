// What do a million tokens and a whole run cost in money, energy and time? Computed from a
// predicted step and the price that is asked for or known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/energy.h"
#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {

/// A price that a flag gave.
struct GivenPrice {
    std::string flag, price;  ///< "--price", "3.5 USD an hour"
};

struct Payment {
    std::string name;  ///< name of the offer, "bought" or "--usd-per-hour"
    std::string origin;
    double usd_per_hour = 0;        ///< without electricity if the machine is bought
    bool pays_electricity = false;  ///< rents include it
    std::optional<GivenPrice> given = {};
    std::vector<std::string> inputs = {};  ///< paths of the profile's numbers behind the price
    double price_usd = 0;                  ///< of the purchase; 0 for a rent
    bool gpu_alone = false;                ///< that price does not include a host
};

/// Costs and times are proportional to the tokens.
struct RunCost {
    double tokens = 0;
    Banded days;
    Banded usd;
    Banded usd_per_million_tokens;
    double usd_per_hour = 0;  ///< with electricity if the owner pays it
    std::optional<Banded> kwh;
    std::optional<double> mean_w;            ///< GPU and, if known, host
    std::optional<double> tokens_per_joule;  ///< performance per watt: tokens/s per watt
    std::optional<double> tflops_per_kw;     ///< useful FLOPs (6PT) per second
};

/// Precondition: tokens > 0. Without `energy` the owner's electricity is not counted.
RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms);

/// The payment for a rented offer with `gpus` GPUs.
Payment rented(const Offer& offer, double gpus);
Payment bought(double price_usd, const std::string& origin, const OwnerTerms& terms);

/// The answer of `sluice cost`: the price of the query, and all known ones.
struct CostAnswer {
    OwnerTerms terms;
    std::optional<Payment> payment;  ///< as in the query, else the typical offer
    RunCost run;                     ///< with that payment; without money if no price is known
    std::vector<std::pair<Payment, RunCost>> others;  ///< every other known way to pay
    std::optional<StepEnergy> energy;
    PowerSpec power;
    double tokens = 0;
    std::vector<std::string> assumptions;  ///< about price and power
};

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

/// "29.1 days (24.4 to 36.2)"; without brackets if there is no band.
std::string format_banded(const Banded& number, const char* unit);

/// "$0.24 (5 to 95%: $0.20 to $0.31)".
std::string format_usd(const Banded& usd);

}  // namespace sluice
