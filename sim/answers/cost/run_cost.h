// What do a million tokens and a whole run cost in money, energy and time? Computed from a
// predicted step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/energy.h"
#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/specs/scenario/price.h"

namespace sluice {

struct Payment {
    std::string name;  ///< name of the offer, "bought" or "--usd-per-hour"
    std::string origin;
    double usd_per_hour = 0;        ///< without electricity if the machine is bought
    bool pays_electricity = false;  ///< rents include it
    std::string given;              ///< "3.5 USD an hour" if a flag gave the price, else empty
    double price_usd = 0;           ///< of the purchase; 0 for a rent
    bool gpu_alone = false;         ///< that price does not include a host
};

/// A number with the 5 to 95% range from the band of the step; low and high are 0 without a band.
struct Banded {
    double value = 0, low = 0, high = 0;
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
    std::optional<RunCost> cost;     ///< with that payment
    RunCost run;  ///< the same; if no price is known, without money, for energy and days
    std::vector<std::pair<Payment, RunCost>> others;  ///< every other known way to pay
    std::optional<StepEnergy> energy;
    PowerSpec power;
    double tokens = 0;
    std::vector<std::string> assumptions;  ///< about price and power
};

/// "29.1 days (24.4 to 36.2)"; without brackets if there is no band.
std::string format_banded(const Banded& number, const char* unit);

/// "$0.24 (5 to 95%: $0.20 to $0.31)".
std::string format_usd(const Banded& usd);

}  // namespace sluice
