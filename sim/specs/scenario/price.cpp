#include "sim/specs/scenario/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr const char* kHostMemory = "host.memory_capacity_gb";
constexpr std::string_view kRent = "price.rent_usd_per_gpu_hour.";
constexpr std::string_view kOwnership = "price.ownership_usd_per_gpu_hour.";
constexpr std::string_view kReserved = "price.ownership_usd_per_gpu_hour.three-year contract";

/// "estimated, Page (2026-05-25)": the method, the source and its date.
std::string origin(const Quantity& quantity) {
    return fmt::format("{}{}, {}", quantity.method == Method::estimated ? "estimated: " : "",
                       quantity.source, quantity.date);
}

/// Whether a price is for another size of GPU memory, such as a 40 GB card in an 80 GB card's
/// profile.
bool is_of_another_size(const Quantity& price, const MachineProfile& profile) {
    const auto memory = profile.number("gpu.memory_capacity_gb");
    if (!price.gpu_memory_gb || !memory) return false;
    constexpr double kSame = 0.15;  // GB or GiB, less what the driver keeps
    return std::abs(*price.gpu_memory_gb / *memory - 1) > kSame;
}

std::optional<Offer> offer_of(const Quantity& quantity) {
    const std::string_view path = quantity.path;
    const bool rent = path.starts_with(kRent);
    if (!quantity.value || (!rent && !path.starts_with(kOwnership))) return std::nullopt;
    Offer offer;
    offer.name = path.substr(rent ? kRent.size() : kOwnership.size());
    offer.path = quantity.path;
    offer.kind = rent ? (quantity.spot ? OfferKind::spot : OfferKind::rented)
                      : (path == kReserved ? OfferKind::reserved : OfferKind::estimate);
    offer.usd_per_hour = *quantity.value;
    offer.rented_gpus = quantity.rented_gpus;
    // Contracts for years and estimates are those of whole clusters.
    offer.most_gpus = rent ? quantity.most_gpus : std::numeric_limits<double>::infinity();
    offer.date = quantity.date;
    offer.source = quantity.source;
    return offer;
}

}  // namespace

const char* ownership_name(Ownership ownership) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"rent", "buy", "own"};
    return kNames[static_cast<std::size_t>(ownership)];
}

const char* offer_kind_name(OfferKind kind) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"quoted", "rented", "spot", "reserved", "estimated"};
    return kNames[static_cast<std::size_t>(kind)];
}

void sort_offers(std::vector<Offer>& offers) {
    std::stable_sort(offers.begin(), offers.end(), [](const auto& a, const auto& b) {
        return std::tie(a.kind, a.usd_per_hour) < std::tie(b.kind, b.usd_per_hour);
    });
}

PriceList price_list(const MachineProfile& profile) {
    PriceList prices;
    for (const Quantity& quantity : profile.quantities)
        if (auto offer = offer_of(quantity); offer && !is_of_another_size(quantity, profile))
            prices.offers.push_back(*std::move(offer));
    sort_offers(prices.offers);
    const Quantity* const gpu = profile.find("price.gpu_usd");
    if (gpu != nullptr && gpu->value) {
        prices.gpu_usd = *gpu->value;
        prices.gpu_source = origin(*gpu);
    }
    double memory_of_system = 0;
    if (const Quantity* const memory = profile.find(kHostMemory); memory && memory->value) {
        const double sold = memory->what_if ? memory->replaced.value_or(0) : *memory->value;
        prices.memory_gb = *memory->value > sold ? orderable_memory_gb(*memory->value) : sold;
        memory_of_system = profile.number("price.system_memory_gb").value_or(sold);
    }
    const Quantity* const system = profile.find("price.system_usd");
    if (system != nullptr && system->value)
        prices.systems.push_back({.usd = *system->value,
                                  .gpus = profile.number("price.system_gpus").value_or(1),
                                  .memory_gb = memory_of_system,
                                  .source = origin(*system)});
    prices.unpriced = unpriced_memory(profile);
    return prices;
}

std::span<const Offer> rents(const PriceList& prices) {
    // Offers are sorted by kind: quotes, rents, others.
    const auto of = [&](OfferKind kind) {
        const auto first = std::ranges::lower_bound(prices.offers, kind, {}, &Offer::kind);
        const auto last = std::ranges::upper_bound(prices.offers, kind, {}, &Offer::kind);
        return std::span(first, last);
    };
    const auto quoted = of(OfferKind::quoted);
    return quoted.empty() ? of(OfferKind::rented) : quoted;
}

double orderable_memory_gb(double gb) {
    double size = 32;
    while (size < gb && 1.5 * size < gb) size *= 2;
    return size >= gb ? size : 1.5 * size;
}

const Offer& find_offer(const PriceList& prices, const std::string& name,
                        const std::string& machine) {
    std::vector<std::string> names;
    std::vector<const Offer*> begin_so;
    for (const Offer& offer : prices.offers) {
        if (lowercase(offer.name) == lowercase(name)) return offer;
        if (lowercase(offer.name).starts_with(lowercase(name))) begin_so.push_back(&offer);
        names.push_back(offer.name);
    }
    if (begin_so.size() == 1) return *begin_so.front();
    if (names.empty())
        throw InputError(fmt::format(
            "--offer is \"{}\", but the profile of {} has no price of an hour; give --usd-per-hour",
            name, machine));
    throw InputError(fmt::format("--offer is \"{}\", expected one of {}: {}{}", name, machine,
                                 fmt::join(names, ", "), did_you_mean(name, names)));
}

std::string unpriced_memory(const MachineProfile& profile) {
    const Quantity* const memory = profile.find(kHostMemory);
    if (memory == nullptr || !memory->what_if) return "";
    const auto size = [](double gb) { return format_bytes(gb * kGiga); };
    if (!memory->replaced)
        return fmt::format("the price of {} of host memory is not known and not counted",
                           size(*memory->value));
    if (*memory->value <= *memory->replaced) return "";
    return fmt::format("the extra price of {} of host memory over {} is not known and not counted",
                       size(*memory->value), size(*memory->replaced));
}

double ownership_usd_per_hour(double price_usd, const OwnerTerms& terms) {
    const double hours_a_year = kHoursOfAYear * terms.utilization;
    const double residual = terms.residual_share * price_usd;
    if (terms.interest == 0) return (price_usd - residual) / terms.years / hours_a_year;
    // An annuity paid hour by hour, as a rent: the present values of its payments and of the
    // residual value are the price.
    const double rate = std::log1p(terms.interest), discount = std::exp(-rate * terms.years);
    return (price_usd - residual * discount) * rate / (1 - discount) / hours_a_year;
}

}  // namespace sluice
