#include "sim/answers/cost/cost_query.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

double gpus_of(const Prediction& report) { return static_cast<double>(report.asked.training.gpus); }

double gpus_paid(const CostQuery& query, const Prediction& report) {
    return query.gpus_paid.value_or(gpus_of(report));
}

/// At the price of the whole machine; at the GPU's alone if that is not known.
std::optional<Payment> purchase(const PriceList& prices, const CostQuery& query, double gpus) {
    if (query.price_usd) return bought(*query.price_usd, "--price-usd, as given", query.terms);
    if (prices.system_usd)
        return bought(gpus * *prices.system_usd, prices.system_source, query.terms);
    if (!prices.gpu_usd) return std::nullopt;
    Payment payment = bought(gpus * *prices.gpu_usd,
                             "the GPU alone, without a host; " + prices.gpu_source, query.terms);
    payment.gpu_alone = true;
    return payment;
}

void add_others(CostAnswer& answer, const Prediction& report, const PriceList& prices,
                const CostQuery& query) {
    const auto add = [&](Payment payment) {
        if (answer.payment && payment.name == answer.payment->name) return;
        const RunCost cost = run_cost(report, payment, query.tokens, answer.energy, query.terms);
        answer.others.emplace_back(std::move(payment), cost);
    };
    for (const Offer& offer : prices.offers) add(rented(offer, gpus_paid(query, report)));
    if (auto payment = purchase(prices, query, gpus_of(report))) add(std::move(*payment));
}

void say_what_rents_are_for(CostAnswer& answer, const Prediction& r, const MachineSpec& machine,
                            const CostQuery& query) {
    const double paid = gpus_paid(query, r);
    answer.assumptions.push_back(fmt::format(
        "an hour's rent is for {:g} GPU{} of a node and its share of the host, but the prediction "
        "uses all of the profile's host ({:g} cores, {:.0f} GB/s of memory) and {} of its memory; "
        "--gpus-paid counts more GPUs",
        paid, paid == 1 ? "" : "s", machine.host.cores, machine.host.dram_bandwidth / kGiga,
        format_bytes(static_cast<double>(r.plan.fit.host.peak.bytes))));
}

/// Counts the power of all GPUs that train; each has its part of the host's power.
void say_what_power_is_counted(CostAnswer& answer, double gpus, const PowerSpec& power) {
    answer.assumptions.insert(answer.assumptions.end(), power.assumptions.begin(),
                              power.assumptions.end());
    answer.assumptions.emplace_back(
        "kWh are not checked, since no training step's energy has been measured yet");
    if (power.host_assumption.empty()) return;
    const double each = power.host_w.value_or(0);
    answer.assumptions.push_back(
        gpus == 1 || each == 0
            ? power.host_assumption
            : fmt::format("{}; counted for each of the {:g} GPUs, {:.0f} W in all",
                          power.host_assumption, gpus, gpus * each));
}

}  // namespace

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query) {
    MachineMoney money{price_list(profile), power_spec(profile, machine), unpriced_memory(profile)};
    if (query.host_w && money.power.known()) {
        money.power.host_w = query.host_w;
        money.power.host_given = true;
        money.power.host_assumption =
            fmt::format("{:g} W of host power for each GPU, as given", *query.host_w);
    }
    return money;
}

std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const Prediction& report) {
    if (query.usd_per_hour) {
        Payment payment;
        payment.name = query.usd_per_hour_flag;
        payment.origin = "as given";
        payment.given = fmt::format("{:g} USD an hour", *query.usd_per_hour);
        payment.usd_per_hour = *query.usd_per_hour;
        return payment;
    }
    if (query.offer)
        return rented(find_offer(money.prices, *query.offer, report.asked.machine_id),
                      gpus_paid(query, report));
    const Offer* const typical = typical_offer(money.prices);
    if (typical != nullptr && !query.buy && !query.price_usd)
        return rented(*typical, gpus_paid(query, report));
    auto payment = purchase(money.prices, query, gpus_of(report));
    if (query.price_usd) payment->given = fmt::format("{:.10g} USD", *query.price_usd);
    return payment;
}

CostAnswer answer_cost(const Prediction& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query) {
    CostAnswer answer;
    answer.terms = query.terms;
    answer.tokens = query.tokens;
    answer.power = money.power;
    if (money.power.known()) answer.energy = step_energy(report, machine, money.power);
    answer.payment = payment_of(money, query, report);
    if (answer.payment)
        answer.cost = run_cost(report, *answer.payment, query.tokens, answer.energy, query.terms);
    answer.run =
        answer.cost ? *answer.cost : run_cost(report, {}, query.tokens, answer.energy, query.terms);
    add_others(answer, report, money.prices, query);
    const bool any_price = answer.payment || !answer.others.empty();
    if (any_price && !money.unpriced.empty()) answer.assumptions.push_back(money.unpriced);
    if (!money.prices.offers.empty()) say_what_rents_are_for(answer, report, machine, query);
    if (money.prices.system_usd || money.prices.gpu_usd || query.price_usd)
        answer.assumptions.push_back(fmt::format(
            "bought: {:g} years, trains {} of the hours, {:g} USD a kWh, facility {:g} times the "
            "machine's power",
            query.terms.years, format_percent(query.terms.utilization),
            query.terms.electricity_usd_per_kwh, query.terms.power_usage_effectiveness));
    if (answer.energy) say_what_power_is_counted(answer, gpus_of(report), money.power);
    return answer;
}

}  // namespace sluice
