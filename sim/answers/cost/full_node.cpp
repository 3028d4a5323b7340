#include "sim/answers/cost/full_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

MachineSpec part_of_a_node(const MachineSpec& node, double jobs) {
    MachineSpec out = with_cores(
        node, std::min(node.host.cores, std::max(1.0, std::floor(node.host.cores / jobs))));
    const double bandwidth = node.host.sockets / jobs;
    return bandwidth < 1 ? with_faster(out, part::host_memory, bandwidth) : out;
}

/// The same job with the time of a step beside the others; its band is off by the same factor.
Prediction beside_others(const Prediction& alone, const MachineSpec& machine) {
    Prediction out = alone;
    out.step = predict_step(alone.plan, machine, alone.asked.training);
    const double slower = out.step.seconds / alone.step.seconds;
    if (out.band) out.band = Band{alone.band->low * slower, alone.band->high * slower};
    return out;
}

/// A machine that is bought or owned may have another number of GPUs than a node of the profile.
/// Empty if it is rented, or if its number is not given.
std::optional<double> own_number(const Prediction& report, const MachineMoney& money,
                                 const CostQuery& query) {
    if (!query.gpus_paid) return std::nullopt;
    if (query.owns()) return query.gpus_paid;  // even if its power is not known
    const std::optional<Payment> payment = payment_of(money, query, report);
    const bool buys = payment ? payment->ownership == Ownership::buy : query.buys();
    return buys ? std::optional(purchase(money.prices, query, report.share).gpus) : std::nullopt;
}

/// One job's part, if the whole node is paid for.
std::optional<Payment> part_of_payment(const Prediction& report, const NodeShare& share,
                                       const MachineMoney& money, const CostQuery& query,
                                       std::optional<double> own_gpus, double jobs) {
    if (query.usd_per_hour) return std::nullopt;  // its part of the node is not known
    Prediction whole;
    whole.asked = report.asked;
    whole.share = share;
    whole.share.gpus = share.node_gpus;
    CostQuery all = query;
    all.gpus_paid = own_gpus;
    if (query.offer &&
        !holds(find_offer(money.prices, *query.offer, report.asked.machine_id), whole.share))
        return std::nullopt;  // it rents parts of a node alone
    std::optional<Payment> out = payment_of(money, all, whole);
    if (!out || !out->paid) return std::nullopt;
    out->name = fmt::format("{:g} jobs on a node: {}", jobs, out->name);
    // An offer may rent or sell several nodes at least, each of which holds as many jobs.
    const double all_jobs = jobs * std::max(1.0, std::floor(out->paid->gpus / whole.share.gpus));
    out->usd_per_hour /= all_jobs;
    out->jobs = all_jobs;
    out->paid->gpus /= all_jobs;
    return out;
}

}  // namespace

std::pair<double, NodePart> jobs_of_a_node(const NodeShare& share, double cores) {
    constexpr double kRounding = 1e-9;
    std::pair<double, NodePart> out{std::floor(share.node_gpus / share.gpus), NodePart::gpus};
    const auto limit = [&](double jobs, NodePart part) {
        if (jobs < out.first) out = {jobs, part};
    };
    if (share.host_memory > 0)
        limit(std::floor(1 / share.host_memory + kRounding), NodePart::host_memory);
    limit(std::floor(cores), NodePart::cores);
    return out;
}

std::optional<FullNode> full_node(const Prediction& report, const MachineSpec& machine,
                                  const MachineMoney& money, const CostQuery& query) {
    NodeShare share = report.share;
    if (share.nodes() > 1 || !report.plan.fit.fits()) return std::nullopt;
    const std::optional<double> own_gpus = own_number(report, money, query);
    share.node_gpus = own_gpus.value_or(share.node_gpus);
    if (share.node_gpus <= 1) return std::nullopt;
    // A host with less memory than the node has as it is sold holds fewer jobs.
    const Fit::OfMemory& host = report.plan.fit.host();
    share.host_memory = std::max(
        share.host_memory, static_cast<double>(host.peak.bytes) / static_cast<double>(host.usable));
    FullNode out;
    std::tie(out.jobs, out.limit) = jobs_of_a_node(share, machine.host.cores);
    if (out.jobs < 1) return std::nullopt;
    const Prediction each =
        out.jobs == 1 ? report : beside_others(report, part_of_a_node(machine, out.jobs));
    out.tokens_per_s = each.tokens_per_s();
    out.of_alone = out.tokens_per_s / report.tokens_per_s();
    if (auto payment = part_of_payment(report, share, money, query, own_gpus, out.jobs))
        out.paid = paid_run(each, machine, money, query, *std::move(payment));
    return out;
}

}  // namespace sluice
