// What does an hour of a machine cost, rented or bought? From the dated prices of its profile, or
// from the user's input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

enum class OfferKind {
    rented,    ///< listed by a provider
    spot,      ///< listed, but the provider may take the machine back at any time
    estimate,  ///< an estimate of an owner's full cost of an hour, or of an hour on a long contract
};
const char* offer_kind_name(OfferKind kind);

struct Offer {
    std::string name;
    std::string path;  ///< of the profile's number
    OfferKind kind = OfferKind::rented;
    double usd_per_hour = 0;
    std::string date;
    std::string source;
};

/// The prices of a profile's section `price`. Rents are for one GPU of a node with its share of the
/// host.
struct PriceList {
    std::vector<Offer> offers;         ///< by kind, then in ascending order of price
    std::optional<double> gpu_usd;     ///< the GPU alone
    std::optional<double> system_usd;  ///< the whole system, divided by its GPUs
    std::string gpu_source, system_source;

    bool empty() const { return offers.empty() && !gpu_usd && !system_usd; }
};

/// Offers for another size of GPU memory are left out.
PriceList price_list(const MachineProfile& profile);

/// The median rent (of an even number, the cheaper of the two in the middle): neither the cheapest
/// corner of the market nor a list price that few pay. Empty if there is no rent.
const Offer* typical_offer(const PriceList& prices);

struct HourlyCost {
    double usd_per_hour = 0;  ///< for all GPUs that train
    std::string provider;
    OfferKind kind = OfferKind::rented;
    std::string date;
    std::string unpriced;  ///< host memory that the price does not include, or empty
};
/// By the typical offer; empty if there is no rent.
std::optional<HourlyCost> hourly_cost(const MachineProfile& profile, double gpus);

/// The offer with that name or beginning of a name, in any case; throws InputError if there is none
/// or several. `machine` names it in messages.
const Offer& find_offer(const PriceList& prices, const std::string& name,
                        const std::string& machine);

/// A sentence that the price does not include the user's host memory, if that is more than the
/// profile's or the profile does not say; else empty.
std::string unpriced_memory(const MachineProfile& profile);

/// How an owner calculates. Every number is an option of the command line.
struct OwnerTerms {
    /// Amazon uses five years for a part of its servers from 2025 on (10-K for 2024: "from six
    /// years to five years"); Meta, Microsoft and Google say 5.5 to 6.
    double years = 5;
    double utilization = 1;  ///< share of all hours in which it trains
    /// Commercial customers in the United States: U.S. Energy Information Administration, Electric
    /// Power Monthly, table 5.6.A, national average as published by 2026-04-26.
    double electricity_usd_per_kwh = 0.146;
    /// Power of the facility over power of the machine; 1: the machine's own power.
    double power_usage_effectiveness = 1;
};

/// Dollars an hour of training without electricity: the price spread over the hours of training.
/// Precondition: years and utilization above 0.
double ownership_usd_per_hour(double price_usd, const OwnerTerms& terms);

}  // namespace sluice
