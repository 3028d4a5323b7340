// What do a million tokens, and a whole run, cost in money, energy and time? From a predicted step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/energy.h"
#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/specs/scenario/price.h"

namespace sluice {

/// How the hours are paid for.
struct Payment {
    std::string name;  ///< of the offer, "bought" or "--usd-per-hour"
    std::string origin;
    double usd_per_hour = 0;        ///< without electricity where the machine is bought
    bool pays_electricity = false;  ///< rents include it
    std::string given;              ///< "3.5 USD an hour" where a flag gave the price, else empty
    double price_usd = 0;           ///< of what is bought; 0 where it is rented
    bool gpu_alone = false;         ///< that price is without a host
};

/// A number with the 5 to 95% that the band of the step gives it; low and high are 0 where the step
/// has no band.
struct Banded {
    double value = 0, low = 0, high = 0;
};

/// Costs and times are proportional to the tokens.
struct RunCost {
    double tokens = 0;
    Banded days;
    Banded usd;
    Banded usd_per_million_tokens;
    double usd_per_hour = 0;  ///< with electricity where the owner pays it
    std::optional<Banded> kwh;
    std::optional<double> mean_w;            ///< GPU and, where known, host
    std::optional<double> tokens_per_joule;  ///< performance per watt: tokens/s a watt
    std::optional<double> tflops_per_kw;     ///< useful (6PT), a second
};

/// Precondition: tokens > 0. Without `energy` the owner's electricity is not counted.
RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms);

/// As a rented offer; `gpus` of them are paid.
Payment rented(const Offer& offer, double gpus);
/// As an owner pays it.
Payment bought(double price_usd, const std::string& origin, const OwnerTerms& terms);

/// What is asked of a machine's price, and what is known: the answer of `sluice cost`.
struct CostAnswer {
    OwnerTerms terms;
    std::optional<Payment> payment;  ///< the one asked for, else the typical offer
    std::optional<RunCost> cost;     ///< with that payment
    RunCost run;  ///< the same; where no price is known as if it were free, for energy and days
    std::vector<std::pair<Payment, RunCost>> others;  ///< every other known way to pay
    std::optional<StepEnergy> energy;
    PowerSpec power;
    double tokens = 0;
    std::vector<std::string> assumptions;  ///< of price and power
};

/// "29.1 days (24.4 to 36.2)"; the band only where there is one.
std::string format_banded(const Banded& number, const char* unit);

/// "$0.24 (5 to 95%: $0.20 to $0.31)".
std::string format_usd(const Banded& usd);

}  // namespace sluice
