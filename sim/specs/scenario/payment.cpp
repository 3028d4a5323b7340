#include "sim/specs/scenario/payment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/format.h"

namespace sluice {
namespace {

/// A share that is a whole number of GPUs stays one despite rounding.
constexpr double kRounding = 1e-9;

double rounded_up(double number, double multiple_of) {
    return std::ceil(number / multiple_of - kRounding) * multiple_of;
}

}  // namespace

const char* node_part_name(NodePart part) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"GPUs", "host memory", "cores",
                                             "host memory bandwidth"};
    return kNames[static_cast<std::size_t>(part)];
}

double NodeShare::nodes() const { return node_gpus == 0 ? 1 : rounded_up(gpus / node_gpus, 1); }

double NodeShare::share_of(NodePart part) const {
    switch (part) {
        case NodePart::host_memory:
            return host_memory;
        case NodePart::cores:
            return cores;
        case NodePart::host_bandwidth:
            return host_bandwidth;
        default:
            return node_gpus == 0 ? 1 : gpus / (node_gpus * nodes());
    }
}

NodePart NodeShare::largest() const {
    NodePart out = NodePart::gpus;
    for (const NodePart part : {NodePart::host_memory, NodePart::cores, NodePart::host_bandwidth})
        if (share_of(part) > share_of(out)) out = part;
    return out;
}

double NodeShare::gpus_needed() const {
    if (node_gpus == 0) return gpus;
    return nodes() * rounded_up(std::min(1.0, share_of(largest())) * node_gpus, 1);
}

PaidGpus gpus_to_pay(const NodeShare& share, double rented_gpus, std::optional<double> given) {
    PaidGpus out;
    out.of = share.nodes() * share.node_gpus;
    out.needed = share.gpus_needed();
    out.part = out.needed > share.gpus ? share.largest() : NodePart::gpus;
    out.given = given.has_value();
    out.gpus = given.value_or(rounded_up(out.needed, rented_gpus));
    if (out.of > 0) out.of = std::max(out.of, out.gpus);
    return out;
}

std::string paid_words(const PaidGpus& paid) {
    const auto count = [](double gpus) {
        return fmt::format("{:g} GPU{}", gpus, gpus == 1 ? "" : "s");
    };
    if (paid.given) return fmt::format("pays for {}, as given", count(paid.gpus));
    if (paid.of == 0)
        return fmt::format(
            "pays for {}; how many share a host is not known: give --set host.gpus=NUMBER",
            count(paid.gpus));
    if (paid.ownership == Ownership::own)
        return fmt::format("pays the electricity of {}",
                           paid.gpus == 1 ? "the whole machine"
                                          : fmt::format("all {:g} GPUs of the machine", paid.gpus));
    if (paid.of == 1 && paid.gpus == 1) return "pays for the whole machine";
    const std::string out = fmt::format("pays for {:g} of {}", paid.gpus, count(paid.of));
    const bool by_gpus = paid.part == NodePart::gpus;
    if (paid.gpus <= paid.needed)
        return by_gpus ? out : fmt::format("{}: {}", out, node_part_name(paid.part));
    return fmt::format("{}, {}; the plan needs {}{:g}", out,
                       paid.ownership == Ownership::buy ? "since a machine is bought whole"
                                                        : "the least that this offer rents",
                       by_gpus ? "" : fmt::format("the {} of ", node_part_name(paid.part)),
                       paid.needed);
}

std::string unpriced_of(const PriceList& prices, OfferKind kind) {
    return kind == OfferKind::quoted ? "" : prices.unpriced;
}

std::string offer_words(const Payment& payment) {
    const std::string out = payment.name + ", " + payment.origin;
    return payment.unpriced.empty() ? out : out + "; " + payment.unpriced;
}

std::string payment_words(const Payment& payment) {
    return payment.paid ? paid_words(*payment.paid) + "; " + offer_words(payment)
                        : offer_words(payment);
}

bool holds(const Offer& offer, const NodeShare& share, std::optional<double> gpus_paid) {
    // The GPUs that a provider rents at least are connected, even across hosts of a rack.
    const double of_node = share.node_gpus == 0 ? std::numeric_limits<double>::infinity()
                                                : std::max(share.node_gpus, offer.rented_gpus);
    return gpus_paid.value_or(share.gpus_needed()) <= offer.most_gpus.value_or(of_node);
}

HoldingRents holding_rents(const PriceList& prices, const NodeShare& share,
                           std::optional<double> gpus_paid) {
    HoldingRents out;
    // By what this plan pays: a whole node for a plan of two GPUs is not cheap for its low rate.
    std::vector<std::pair<double, const Offer*>> by_price;
    for (const Offer& offer : rents(prices)) {
        if (holds(offer, share, gpus_paid))
            by_price.emplace_back(
                gpus_to_pay(share, offer.rented_gpus, gpus_paid).gpus * offer.usd_per_hour, &offer);
        else
            ++out.too_small;
    }
    std::ranges::stable_sort(by_price, {}, &std::pair<double, const Offer*>::first);
    for (const auto& [usd_per_hour, offer] : by_price) out.offers.push_back(offer);
    return out;
}

std::string no_rent_holds(const PriceList& prices, const NodeShare& share,
                          std::optional<double> gpus_paid) {
    const auto [offers, too_small] = holding_rents(prices, share, gpus_paid);
    if (!offers.empty() || too_small == 0) return "";
    return fmt::format("none of the {} known rents connects {:g} GPUs", too_small,
                       gpus_paid.value_or(share.gpus_needed()));
}

Payment rented(const Offer& offer, const NodeShare& share, std::optional<double> gpus_paid) {
    Payment payment;
    payment.name = offer.name;
    payment.origin = fmt::format("{}, {}", offer_kind_name(offer.kind), offer.date);
    payment.paid = gpus_to_pay(share, offer.rented_gpus, gpus_paid);
    payment.usd_per_hour = payment.paid->gpus * offer.usd_per_hour;
    payment.inputs = {offer.path};
    payment.kind = offer.kind;
    return payment;
}

std::optional<Payment> typical_rent(const PriceList& prices, const NodeShare& share,
                                    std::optional<double> gpus_paid) {
    const auto [all, too_small] = holding_rents(prices, share, gpus_paid);
    if (all.empty()) return std::nullopt;
    Payment out = rented(*all[(all.size() - 1) / 2], share, gpus_paid);
    const auto [least, most] = std::ranges::minmax(all, {}, &Offer::usd_per_hour);
    if (all.size() > 1)
        out.origin +=
            fmt::format(", the {} of {} {} from {} to {} a GPU",
                        all.size() == 2       ? "lower"
                        : all.size() % 2 == 0 ? "lower median"
                                              : "median",
                        all.size(), all.front()->kind == OfferKind::quoted ? "quotes" : "rents",
                        format_usd(least->usd_per_hour), format_usd(most->usd_per_hour));
    if (too_small > 0)
        out.origin += fmt::format("; {} other offer{} not connect {:g} GPUs", too_small,
                                  too_small == 1 ? " does" : "s do", out.paid->needed);
    out.unpriced = unpriced_of(prices, all.front()->kind);
    return out;
}

}  // namespace sluice
