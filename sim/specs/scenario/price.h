// What does an hour of a machine cost, rented or bought? From the dated prices of its profile, or
// from what the user gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

enum class OfferKind {
    rented,    ///< listed by a provider
    spot,      ///< listed, but may be taken back at any time
    estimate,  ///< somebody's of what an hour costs an owner, all included, or on a long contract
};
const char* offer_kind_name(OfferKind kind);

/// One dated price of a GPU hour.
struct Offer {
    std::string name;
    OfferKind kind = OfferKind::rented;
    double usd_per_hour = 0;
    std::string date;
    std::string source;
};

/// The prices of a profile's section `price`. Rents are for one GPU of a node with its share of the
/// host.
struct PriceList {
    std::vector<Offer> offers;         ///< by kind, then ascending in price
    std::optional<double> gpu_usd;     ///< the GPU alone
    std::optional<double> system_usd;  ///< the whole system, divided by its GPUs
    std::string gpu_source, system_source;

    bool empty() const { return offers.empty() && !gpu_usd && !system_usd; }
};

/// Offers for another size of GPU memory are left out.
PriceList price_list(const MachineProfile& profile);

/// The middle one of the rented (of an even number the cheaper of the two in the middle): neither
/// the cheapest corner of the market nor a list price that few pay. Nothing where none is rented.
const Offer* typical_offer(const PriceList& prices);

/// What an hour of training costs.
struct HourlyCost {
    double usd_per_hour = 0;  ///< of all GPUs that train
    std::string provider;
    OfferKind kind = OfferKind::rented;
    std::string date;
    std::string unpriced;  ///< host memory that the price does not know of, or empty
};
/// By the typical offer; nothing where none is rented.
std::optional<HourlyCost> hourly_cost(const MachineProfile& profile, double gpus);

/// The offer whose name that is, whatever its case, or begins so; throws InputError where none or
/// several do. `machine` names it in messages.
const Offer& find_offer(const PriceList& prices, const std::string& name,
                        const std::string& machine);

/// Where the user gives the machine more host memory than its profile says, or the profile says
/// nothing: that the price does not know of it. Else empty.
std::string unpriced_memory(const MachineProfile& profile);

/// How an owner counts. Every number is an option of the command line.
struct OwnerTerms {
    /// Amazon writes a part of its servers off in five years from 2025 on (10-K for 2024: "from six
    /// years to five years"); Meta, Microsoft and Google say 5.5 to 6.
    double years = 5;
    double utilization = 1;  ///< share of all hours in which it trains
    /// Commercial customers in the United States: U.S. Energy Information Administration, Electric
    /// Power Monthly, table 5.6.A, national average as published by 2026-04-26.
    double electricity_usd_per_kwh = 0.146;
    /// Facility over machine; 1: what the machine draws at its plug.
    double power_usage_effectiveness = 1;
};

/// Dollars an hour of training without electricity: the price spread over the hours in which it
/// trains. Precondition: years and utilization above 0.
double ownership_usd_per_hour(double price_usd, const OwnerTerms& terms);

}  // namespace sluice
