// Which price does the query ask for?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/cost/cost.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Throws InputError if that offer does not rent as many connected GPUs.
Payment rented_by_name(const PriceList& prices, const CostQuery& query, const Prediction& report) {
    const Offer& named = find_offer(prices, *query.offer, report.asked.machine_id);
    // A provider may have quoted several sizes.
    const Offer* best = &named;
    const auto usd = [&](const Offer& one) {
        return std::pair(!holds(one, report.share, query.gpus_paid),
                         rented(one, report.share, query.gpus_paid).usd_per_hour);
    };
    for (const Offer& one : prices.offers)
        if (one.name == named.name && usd(one) < usd(*best)) best = &one;
    const Offer& offer = *best;
    if (!holds(offer, report.share, query.gpus_paid))
        throw InputError(fmt::format(
            "--offer is \"{}\", which does not connect {:g} GPUs; name another, or give a price by "
            "--quotes or --usd-per-hour",
            *query.offer, query.gpus_paid.value_or(report.share.gpus_needed())));
    Payment out = rented(offer, report.share, query.gpus_paid);
    out.unpriced = unpriced_of(prices, offer.kind);
    return out;
}

/// At least the GPUs that train; at most those of the plan's nodes, or what an offer rents at
/// least.
void check_gpus_paid(const MachineMoney& money, const CostQuery& query, const Prediction& report) {
    if (!query.gpus_paid) return;
    const NodeShare& share = report.share;
    if (*query.gpus_paid != std::floor(*query.gpus_paid))
        throw InputError(
            fmt::format("--gpus-paid is {:g}, expected a whole number of GPUs", *query.gpus_paid),
            "gpus_paid");
    if (*query.gpus_paid < share.gpus)
        throw InputError(fmt::format("--gpus-paid is {:g}, expected at least {:g}, the GPUs that "
                                     "train; give more, or train on fewer with --gpus",
                                     *query.gpus_paid, share.gpus),
                         "gpus_paid");
    double all = share.nodes() * share.node_gpus;
    for (const Offer& offer : money.prices.offers)
        if (all > 0) all = std::max(all, offer.rented_gpus);
    if (all > 0 && *query.gpus_paid > all)
        throw InputError(
            fmt::format("--gpus-paid is {:g}, expected at most {:g}, the GPUs of the {} that the "
                        "plan uses on {}, or what an offer rents at least",
                        *query.gpus_paid, all, share.nodes() == 1 ? "node" : "nodes",
                        report.asked.machine_id),
            "gpus_paid");
}

}  // namespace

std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const Prediction& report) {
    check_gpus_paid(money, query, report);
    if (query.usd_per_hour) {
        Payment payment;
        payment.name = query.usd_per_hour_flag;
        payment.origin = "as given";
        payment.given = {query.usd_per_hour_flag,
                         fmt::format("{:g} USD an hour", *query.usd_per_hour)};
        payment.usd_per_hour = *query.usd_per_hour;
        return payment;
    }
    std::optional<Payment> out;
    if (query.owns()) {
        if (money.power.known()) out = owned(query, report.share);
        return out;
    }
    if (query.offer)
        out = rented_by_name(money.prices, query, report);
    else if (!query.buys())
        out = typical_rent(money.prices, report.share, query.gpus_paid);
    if (!out && query.ownership != Ownership::rent)
        if (const Purchase all = purchase(money.prices, query, report.share); all.missing.empty())
            out = bought(all, report.share, query.terms);
    return out;
}

}  // namespace sluice
