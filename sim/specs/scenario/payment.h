// How much is paid an hour, and for which part of a node? A plan pays for the largest share that it
// takes of its node, since no other job can use the GPUs that it leaves without host memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/specs/scenario/price.h"

namespace sluice {

/// The parts of a node that its jobs share.
enum class NodePart : std::uint8_t { gpus, host_memory, cores, host_bandwidth };
const char* node_part_name(NodePart part);

/// The share that a plan takes of each node on which it runs. Shares are from 0 to 1; more if it
/// does not fit.
struct NodeShare {
    double gpus = 1;       ///< that train, in all nodes
    double node_gpus = 0;  ///< of one node; 0: not known
    double host_memory = 0, cores = 0, host_bandwidth = 0;

    double share_of(NodePart part) const;
    double nodes() const;
    /// The part with the largest share.
    NodePart largest() const;
    /// Whole GPUs that are at least the largest share of the nodes, and at most all of them.
    double gpus_needed() const;
};

/// The GPUs that are paid for, each with its part of the node.
struct PaidGpus {
    double gpus = 1;
    double of = 0;                   ///< GPUs of the nodes; 0: not known
    double needed = 1;               ///< by the plan's shares
    NodePart part = NodePart::gpus;  ///< with the largest share
    bool given = false;              ///< by --gpus-paid
    /// Not rented: all GPUs of the machines.
    Ownership ownership = Ownership::rent;
};
/// The multiple of `rented_gpus` that holds the plan's share, or `given`.
PaidGpus gpus_to_pay(const NodeShare& share, double rented_gpus, std::optional<double> given = {});
/// "pays for 2 of 8 GPUs: host memory".
std::string paid_words(const PaidGpus& paid);

/// A price that a flag gave.
struct GivenPrice {
    std::string flag, price;  ///< "--price", "3.5 USD an hour"
};

struct Payment {
    std::string name;  ///< name of the offer, "bought" or "--usd-per-hour"
    std::string origin;
    double usd_per_hour = 0;            ///< without electricity if the machine is bought
    std::optional<PaidGpus> paid = {};  ///< empty: a flag gave the price of an hour
    Ownership ownership = Ownership::rent;
    std::optional<GivenPrice> given = {};
    std::vector<std::string> inputs = {};  ///< paths of the profile's numbers behind the price
    std::optional<OfferKind> kind = {};    ///< empty: bought, or given by the hour
    double price_usd = 0;                  ///< of the purchase; 0 for a rent
    /// Side by side, of which usd_per_hour is one's part. A price or a contract is not divided.
    double jobs = 1;
    std::string unpriced = {};  ///< host memory that it does not include, or empty

    /// Rents include it.
    bool pays_electricity() const { return ownership != Ownership::rent; }
};

/// Host memory that the price of this kind of offer does not include: quotes include all.
std::string unpriced_of(const PriceList& prices, OfferKind kind);
/// "Lambda, rented, 2026-06", and host memory that it does not include.
std::string offer_words(const Payment& payment);
/// "pays for 1 of 8 GPUs; Lambda, rented, 2026-06".
std::string payment_words(const Payment& payment);

/// Whether the provider rents as many connected GPUs as the plan needs.
bool holds(const Offer& offer, const NodeShare& share, std::optional<double> gpus_paid = {});
/// The rents() that hold, and how many do not.
struct HoldingRents {
    std::vector<const Offer*> offers;  ///< in ascending order of price
    std::size_t too_small = 0;
};
HoldingRents holding_rents(const PriceList& prices, const NodeShare& share,
                           std::optional<double> gpus_paid = {});
/// "none of the 4 listed rents connects 64 GPUs"; empty if one holds, or if there is none.
std::string no_rent_holds(const PriceList& prices, const NodeShare& share,
                          std::optional<double> gpus_paid = {});

/// The rent of an offer; `gpus_paid` replaces the plan's share.
Payment rented(const Offer& offer, const NodeShare& share, std::optional<double> gpus_paid = {});
/// The median of holding_rents(), of an even number the cheaper of the two in the middle: neither
/// the cheapest corner of the market nor a list price that few pay. Says the spread of all, and
/// which host memory it does not include. Empty if no rent holds.
std::optional<Payment> typical_rent(const PriceList& prices, const NodeShare& share,
                                    std::optional<double> gpus_paid = {});

}  // namespace sluice
