// How much do a million tokens and a whole run cost in money, energy and time? Computed from a
// predicted step and the price that is asked for or known.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/energy.h"
#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/specs/scenario/purchase.h"

namespace sluice {

inline constexpr Seconds kHour = 3600, kDay = 24 * kHour;

/// Costs and times are proportional to the tokens.
struct RunCost {
    double tokens = 0;
    Banded days;
    Banded usd;    ///< this run's part of what is paid
    Banded spent;  ///< all that is paid for it: of a purchase the price, of a contract its years
    double usd_at_once = 0;         ///< the fixed part of `spent`
    double usd_per_hour_after = 0;  ///< of the run, beside that
    /// Hours of training that a machine of one's own, or a contract of years, has in all.
    double most_hours = std::numeric_limits<double>::infinity();
    Banded usd_per_million_tokens;
    double usd_per_hour = 0;  ///< with electricity if the owner pays it
    double tokens_per_s = 0;
    /// From the least energy of a fast step to the whole of a slow one.
    std::optional<Banded> kwh;
    EnergyScope kwh_scope = EnergyScope::whole;
    std::optional<double> mean_w;            ///< of all that is paid for
    std::optional<double> tokens_per_joule;  ///< performance per watt: tokens/s per watt
    std::optional<double> tflops_per_kw;     ///< useful FLOPs (6PT) per second
};

/// Precondition: tokens > 0. Without `energy` the owner's electricity is not counted.
RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms);

/// A way to pay.
struct PaidRun {
    Payment payment;
    RunCost run;

    /// RunCost::spent: what is paid even if nothing else is trained. Empty for a cluster whose
    /// owner has paid already.
    std::optional<double> committed_usd() const;
};

/// The answer of `sluice cost`: the price of the query, and all known ones.
struct CostAnswer {
    OwnerTerms terms;
    RunLimits limits;
    std::optional<Payment> payment;  ///< as in the query, else the typical offer
    RunCost run;                     ///< with that payment; without money if no price is known
    std::vector<PaidRun> others;     ///< every other known way to pay
    std::optional<Banded> rents;  ///< $ a million: the payment if rented, and the spread of rents
    std::string missing;          ///< why a purchase has no price, or empty
    std::string no_rent;          ///< why no listed rent is the payment, or empty
    std::optional<PaidRun> rent, bought;  ///< that the break-even compares, if they are known
    std::optional<BreakEven> break_even;  ///< of the purchase against the rent
    bool can_break_even() const { return rent && bought; }
    std::optional<StepEnergy> energy;
    PowerSpec power;
    double tokens = 0;
    std::vector<std::string> assumptions;  ///< about price and power
};

/// "costs no more than renting after 27 months with ... hours of training", or why it never does;
/// "; all of its $530,019 exceeds the budget of $25,000".
/// Precondition: can_break_even().
std::string buying_words(const CostAnswer& answer);

/// Energy of a step whose owner or tenant pays for that many GPUs of the node; empty if nothing is
/// known of its power.
std::optional<StepEnergy> energy_of(const Prediction& report, const MachineSpec& machine,
                                    const PowerSpec& power, double gpus_paid);

/// The data of a machine's costs.
struct MachineMoney {
    PriceList prices;
    PowerSpec power;
};

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query);

/// The payment of the query, else the typical offer, else the owner's; empty if no such price is
/// known. Throws InputError if an offer is unknown.
std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const Prediction& report);

/// The run with that payment, and with the energy of the part of the node that it pays for.
PaidRun paid_run(const Prediction& report, const MachineSpec& machine, const MachineMoney& money,
                 const CostQuery& query, Payment payment);

/// `report` is a result of predict() with its band.
CostAnswer answer_cost(const Prediction& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query);

/// "29.1 days (5 to 95%: 24.4 to 36.2)"; without brackets if there is no band.
std::string format_banded(const Banded& number, const char* unit);

/// "17.2 hours (5 to 95%: 11.4 to 25.5)" for 0.717 days; from two days on in days.
std::string format_days(const Banded& days);

/// "4,935 kWh (5 to 95%: 3,185 to 7,243)"; in energy_terms().
std::string format_kwh(const RunCost& run);

/// "$0.24 (5 to 95%: $0.20 to $0.31)".
std::string format_usd(const Banded& usd);

}  // namespace sluice
