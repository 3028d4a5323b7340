#include "sim/specs/scenario/purchase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"

namespace sluice {
namespace {

double gpus_of_nodes(const NodeShare& share) {
    return share.node_gpus == 0 ? share.gpus : share.nodes() * share.node_gpus;
}

/// --gpus-paid, else all of the nodes.
double gpus_of_machines(const CostQuery& query, const NodeShare& share) {
    return query.gpus_paid.value_or(gpus_of_nodes(share));
}

std::string network_missing(double nodes) {
    return fmt::format(
        "the price of the network between {:g} nodes is not known; give the whole as --price-usd",
        nodes);
}

Purchase of_systems(const SystemPrice& system, double memory_gb, const CostQuery& query,
                    const NodeShare& share) {
    Purchase out;
    // One node may be a smaller system than the profile's; several are connected.
    const bool one_node = share.node_gpus > 0 && share.nodes() == 1;
    const double needed = one_node ? share.gpus_needed() : gpus_of_nodes(share);
    const double systems = std::ceil(needed / system.gpus);
    out.usd = systems * system.usd;
    out.gpus = systems * system.gpus;
    out.origin =
        fmt::format("{:g} whole system{} of {:g} GPU{}; {}", systems, systems == 1 ? "" : "s",
                    system.gpus, system.gpus == 1 ? "" : "s", system.source);
    out.inputs = system.inputs;
    if (one_node && systems > 1)
        out.missing = fmt::format(
            "a system of {:g} GPU{} does not hold the plan, which needs {:g} GPUs of one node; "
            "give the whole as --price-usd",
            system.gpus, system.gpus == 1 ? "" : "s", needed);
    if (share.nodes() > 1 && systems > 1) out.missing = network_missing(systems);
    const double more_gb = std::max(0.0, memory_gb - system.memory_gb);
    if (query.node_usd)
        out.origin += "; --node-usd has no effect, as the system's price includes its node";
    if (query.gpus_paid && *query.gpus_paid != out.gpus)
        out.origin += "; --gpus-paid has no effect, as systems are bought whole";
    if (more_gb == 0) {
        if (query.memory_usd_per_gb)
            out.origin +=
                "; --memory-usd-per-gb has no effect, as the system's price includes all its host "
                "memory";
        return out;
    }
    if (!out.missing.empty()) return out;
    if (query.memory_usd_per_gb) {
        out.usd += systems * more_gb * *query.memory_usd_per_gb;
        out.origin += fmt::format("; with {:g} GB more host memory", more_gb);
    } else {
        out.missing = fmt::format(
            "the price of {:g} GB of host memory beyond the system's {:g} is not known; give "
            "--memory-usd-per-gb",
            more_gb, system.memory_gb);
    }
    return out;
}

/// The cheapest that holds the plan.
Purchase of_cheapest_systems(const PriceList& prices, const CostQuery& query,
                             const NodeShare& share) {
    std::vector<Purchase> all;
    for (const SystemPrice& system : prices.systems)
        all.push_back(of_systems(system, prices.memory_gb, query, share));
    return *std::ranges::min_element(
        all, {}, [](const Purchase& one) { return std::pair(!one.missing.empty(), one.usd); });
}

Purchase of_parts(const PriceList& prices, const CostQuery& query, const NodeShare& share) {
    Purchase out;
    out.gpus = gpus_of_machines(query, share);
    const std::string gpus = fmt::format("{:g} GPU{} at {}{}", out.gpus, out.gpus == 1 ? "" : "s",
                                         format_usd(*prices.gpu_usd), out.gpus == 1 ? "" : " each");
    out.inputs = {"price.gpu_usd"};
    if (!query.node_usd) {
        out.missing = fmt::format(
            "{} have a known price, their host with {:g} GB of memory has none; give --node-usd, "
            "or all as --price-usd",
            gpus, prices.memory_gb);
        return out;
    }
    out.usd = out.gpus * *prices.gpu_usd + share.nodes() * *query.node_usd;
    out.origin =
        fmt::format("{} and {:g} node{} at {}, as given; {}", gpus, share.nodes(),
                    share.nodes() == 1 ? "" : "s", format_usd(*query.node_usd), prices.gpu_source);
    out.given = {"--node-usd", fmt::format("{:.10g} USD", *query.node_usd)};
    return out;
}

}  // namespace

Purchase purchase(const PriceList& prices, const CostQuery& query, const NodeShare& share) {
    if (query.price_usd)
        return Purchase{.usd = *query.price_usd,
                        .gpus = gpus_of_machines(query, share),
                        .origin = "--price-usd, as given",
                        .given = {{"--price-usd", fmt::format("{:.10g} USD", *query.price_usd)}}};
    // Numbers of the user come before the profile's whole systems.
    const bool in_parts =
        prices.gpu_usd && (prices.systems.empty() || (query.node_usd && !prices.systems_quoted));
    if (prices.systems.empty() && !prices.gpu_usd)
        return {.gpus = gpus_of_nodes(share),
                .missing =
                    "no purchase price of this machine is known; give the whole as "
                    "--price-usd"};
    Purchase out =
        in_parts ? of_parts(prices, query, share) : of_cheapest_systems(prices, query, share);
    if (in_parts && share.nodes() > 1 && out.missing.empty())
        out.missing = network_missing(share.nodes());
    return out;
}

Payment bought(const Purchase& purchase, const NodeShare& share, const OwnerTerms& terms) {
    Payment out;
    out.name = "bought";
    out.origin = fmt::format("{} over {:g} years at {} interest, {} of the hours; {}",
                             format_usd(purchase.usd), terms.years, format_percent(terms.interest),
                             format_percent(terms.utilization), purchase.origin);
    out.usd_per_hour = ownership_usd_per_hour(purchase.usd, terms);
    out.paid = gpus_to_pay(share, 1);
    out.paid->gpus = purchase.gpus;
    out.paid->of = purchase.gpus;
    out.paid->ownership = out.ownership = Ownership::buy;
    out.price_usd = purchase.usd;
    out.inputs = purchase.inputs;
    out.given = purchase.given;
    return out;
}

Payment owned(const CostQuery& query, const NodeShare& share) {
    Payment out;
    out.name = "own machine";
    out.origin = "electricity alone";
    out.paid = gpus_to_pay(share, 1);
    out.paid->gpus = out.paid->of = gpus_of_machines(query, share);
    out.paid->ownership = out.ownership = Ownership::own;
    return out;
}

std::optional<BreakEven> break_even(double rent_usd_per_hour, double electricity_usd_per_hour,
                                    double price_usd, const OwnerTerms& terms) {
    const double hours_a_year = kHoursOfAYear * terms.utilization;
    const double saved_a_year = (rent_usd_per_hour - electricity_usd_per_hour) * hours_a_year;
    if (saved_a_year <= 0) return std::nullopt;
    const double rate = std::log1p(terms.interest);
    const double without_interest = price_usd / saved_a_year;
    if (without_interest * rate >= 1) return std::nullopt;
    const double years =
        rate == 0 ? without_interest : -std::log1p(-without_interest * rate) / rate;
    return BreakEven{12 * years, hours_a_year * years};
}

double cost_today(double usd_per_hour, double months, const OwnerTerms& terms) {
    const double years = months / 12, rate = std::log1p(terms.interest);
    const double counted = rate == 0 ? years : -std::expm1(-rate * years) / rate;
    return usd_per_hour * kHoursOfAYear * terms.utilization * counted;
}

}  // namespace sluice
