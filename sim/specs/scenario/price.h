// How much does an hour of a machine cost, rented or bought? From the dated prices of its profile,
// or from the user's input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// How a person comes to a machine.
enum class Ownership : std::uint8_t {
    rent,
    buy,  ///< for this and later runs
    own   ///< since before: it costs its electricity alone
};
/// "rent", "buy", "own".
const char* ownership_name(Ownership ownership);

enum class OfferKind {
    quoted,    ///< to the user, by a provider
    rented,    ///< listed by a provider
    spot,      ///< listed, but the provider may take the machine back at any time
    reserved,  ///< an estimate of an hour on a contract for years
    estimate,  ///< an estimate of the full cost of an hour for the owner of a cluster
};
const char* offer_kind_name(OfferKind kind);

/// The years of the contracts that OfferKind::reserved names.
inline constexpr double kReservedYears = 3;

struct Offer {
    std::string name;
    std::string path;  ///< of the profile's number
    OfferKind kind = OfferKind::rented;
    double usd_per_hour = 0;  ///< for one GPU
    double rented_gpus = 1;   ///< the provider rents multiples of that many
    /// The most GPUs that the provider connects by a network; empty: those of a node.
    std::optional<double> most_gpus = {};
    std::string date;
    std::string source;
};

/// A whole system with its host, as it is sold.
struct SystemPrice {
    double usd = 0;
    double gpus = 1;
    double memory_gb = 0;  ///< of the host, that the price includes
    std::vector<std::string> inputs = {"price.system_usd", "price.system_gpus"};
    std::string source;
};

/// The prices of a profile's section `price`. Rents are for one GPU of a node with its share of the
/// host.
struct PriceList {
    std::vector<Offer> offers;      ///< as sort_offers() sorts them
    std::optional<double> gpu_usd;  ///< the GPU alone, without a host
    std::string gpu_source;
    std::vector<SystemPrice> systems;  ///< the quoted ones if there are any, else the profile's
    bool systems_quoted = false;
    bool owned = false;         ///< the user has the machine, so that its rents are paid by nobody
    double memory_gb = 0;       ///< of the host; in an orderable size if the user gives it
    std::string unpriced = {};  ///< host memory that no price includes: unpriced_memory()

    bool empty() const { return offers.empty() && !gpu_usd && systems.empty(); }
};

/// By kind, then in ascending order of price.
void sort_offers(std::vector<Offer>& offers);

/// Offers for another size of GPU memory are left out.
PriceList price_list(const MachineProfile& profile);

/// The quotes if there are any, else the listed rents; in ascending order of price.
std::span<const Offer> rents(const PriceList& prices);

/// The offer with that name or beginning of a name, in any case; throws InputError if there is none
/// or several. `machine` names it in messages.
const Offer& find_offer(const PriceList& prices, const std::string& name,
                        const std::string& machine);

/// A sentence that the price does not include the user's host memory, if that is more than the
/// profile's or the profile does not say; else empty.
std::string unpriced_memory(const MachineProfile& profile);

/// The smallest size of equal memory modules in 8 or 12 channels that holds `gb`: 2^n or 3 x 2^n
/// GB.
double orderable_memory_gb(double gb);

/// How an owner calculates. Every number is an option of the command line.
struct OwnerTerms {
    /// Amazon uses five years for a part of its servers from 2025 on (10-K for 2024: "from six
    /// years to five years"); Meta, Microsoft and Google say 5.5 to 6.
    double years = 5;
    /// Share of all hours in which it trains. Uptime Institute, "GPU utilization is a confusing
    /// metric" (2025): servers that train are in operation 80% of the time.
    double utilization = 0.8;
    /// A year, on the price less what is paid back. The prime rate of banks in the United States
    /// from December 2024 to September 2025: Federal Reserve, statistical release H.15.
    double interest = 0.075;
    /// Value at the end as a share of the price; 0 as in the linear depreciation of the 10-K above.
    double residual_share = 0;
    /// Commercial customers in the United States: U.S. Energy Information Administration, Electric
    /// Power Monthly, table 5.6.A, national average as published by 2026-04-26.
    double electricity_usd_per_kwh = 0.146;
    /// Power of the facility over power of the machine: the average of Uptime Institute's Global
    /// Data Center Survey 2025.
    double power_usage_effectiveness = 1.54;
};

inline constexpr double kHoursOfAYear = 8766;  // 365.25 days

/// Dollars an hour of training without electricity: equal payments a year that pay back the price
/// less the residual value with its interest, over the hours of training. Precondition: years and
/// utilization above 0.
double ownership_usd_per_hour(double price_usd, const OwnerTerms& terms);

}  // namespace sluice
