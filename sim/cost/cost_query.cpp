#include "sim/cost/cost_query.h"

#include <fmt/format.h>

#include <utility>

#include "sim/input_error.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

double gpus_of(const StepReport& report) { return static_cast<double>(report.training.gpus); }

double gpus_paid(const CostQuery& query, const StepReport& report) {
    return query.gpus_paid.value_or(gpus_of(report));
}

/// The price of the machine and who says so; the GPU's alone where the system's is not known.
std::optional<std::pair<double, std::string>> purchase(const PriceList& prices,
                                                       const CostQuery& query, double gpus) {
    if (query.price_usd) return std::pair(*query.price_usd, std::string("--price-usd"));
    if (prices.system_usd) return std::pair(gpus * *prices.system_usd, prices.system_source);
    if (prices.gpu_usd)
        return std::pair(gpus * *prices.gpu_usd,
                         "the GPU alone, without a host; " + prices.gpu_source);
    return std::nullopt;
}

void add_others(CostAnswer& answer, const PriceList& prices, const CostQuery& query) {
    const auto add = [&](Payment payment) {
        if (answer.payment && payment.name == answer.payment->name) return;
        const RunCost cost =
            run_cost(answer.report, payment, query.tokens, answer.energy, query.terms);
        answer.others.emplace_back(std::move(payment), cost);
    };
    for (const Offer& offer : prices.offers) add(rented(offer, gpus_paid(query, answer.report)));
    if (const auto price = purchase(prices, query, gpus_of(answer.report)))
        add(bought(price->first, price->second, query.terms));
}

void say_what_rents_are_for(CostAnswer& answer, const CostQuery& query) {
    const StepReport& r = answer.report;
    answer.assumptions.push_back(fmt::format(
        "an hour's rent is for {:g} GPU{} of a node and its share of the host, which may have less "
        "than the {} that this step uses; --gpus-paid counts more of them",
        gpus_paid(query, r), gpus_paid(query, r) == 1 ? "" : "s",
        format_bytes(static_cast<double>(r.fit.host.peak.bytes))));
}

}  // namespace

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query) {
    MachineMoney money{price_list(profile), power_spec(profile, machine)};
    if (query.host_w && money.power.known()) {
        money.power.host_w = query.host_w;
        std::erase_if(money.power.assumptions, [](const std::string& assumption) {
            return assumption.find("host") != std::string::npos ||
                   assumption.starts_with("beside the GPU");
        });
        money.power.assumptions.push_back(
            fmt::format("beside the GPU {:g} W, as given", *query.host_w));
    }
    return money;
}

std::optional<Payment> payment_of(const MachineMoney& money, const CostQuery& query,
                                  const StepReport& report) {
    if (query.usd_per_hour) {
        Payment payment;
        payment.name = "--usd-per-hour";
        payment.origin = "as given";
        payment.usd_per_hour = *query.usd_per_hour;
        return payment;
    }
    if (query.offer)
        return rented(find_offer(money.prices, *query.offer, report.machine_id),
                      gpus_paid(query, report));
    const Offer* const typical = typical_offer(money.prices);
    if (typical != nullptr && !query.buy && !query.price_usd)
        return rented(*typical, gpus_paid(query, report));
    if (const auto price = purchase(money.prices, query, gpus_of(report)))
        return bought(price->first, price->second, query.terms);
    if (query.buy)
        throw InputError(fmt::format("--buy: the profile of {} has no price; give --price-usd",
                                     report.machine_id));
    return std::nullopt;
}

void add_price(StepReport& report, const MachineProfile& profile) {
    const PriceList prices = price_list(profile);
    const Offer* const typical = typical_offer(prices);
    if (typical == nullptr) return;
    const Payment payment = rented(*typical, gpus_of(report));
    report.usd_per_hour = payment.usd_per_hour;
    report.usd_per_hour_of = fmt::format("{}, {}", payment.name, payment.origin);
}

CostAnswer answer_cost(const StepReport& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query) {
    CostAnswer answer;
    answer.report = report;
    answer.terms = query.terms;
    answer.tokens = query.tokens;
    answer.power = money.power;
    if (money.power.known()) answer.energy = step_energy(report, machine, money.power);
    answer.payment = payment_of(money, query, report);
    if (answer.payment)
        answer.cost = run_cost(report, *answer.payment, query.tokens, answer.energy, query.terms);
    add_others(answer, money.prices, query);
    if (!money.prices.offers.empty()) say_what_rents_are_for(answer, query);
    if (money.prices.system_usd || money.prices.gpu_usd || query.price_usd)
        answer.assumptions.push_back(fmt::format(
            "bought: {:g} years, trains {} of the hours, {:g} USD a kWh, facility {:g} times the "
            "machine's power",
            query.terms.years, format_percent(query.terms.utilization),
            query.terms.electricity_usd_per_kwh, query.terms.power_usage_effectiveness));
    if (answer.energy)
        answer.assumptions.insert(answer.assumptions.end(), money.power.assumptions.begin(),
                                  money.power.assumptions.end());
    return answer;
}

}  // namespace sluice
