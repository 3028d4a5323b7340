#include "sim/answers/cost/cost.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr double kHour = 3600, kDay = 86400, kJoulesPerKwh = 3.6e6;

/// `of_step` for each of the step's three times.
template <typename OfStep>
Banded banded(const Prediction& report, OfStep of_step) {
    Banded out;
    out.value = of_step(report.step.seconds);
    if (report.band) {
        out.low = of_step(report.band->low);
        out.high = of_step(report.band->high);
    }
    return out;
}

double gpus_of(const Prediction& report) { return static_cast<double>(report.asked.training.gpus); }

double gpus_paid(const CostQuery& query, const Prediction& report) {
    return query.gpus_paid.value_or(gpus_of(report));
}

/// At the price of the whole machine; at the GPU's alone if that is not known.
std::optional<Payment> purchase(const PriceList& prices, const CostQuery& query, double gpus) {
    if (query.price_usd) return bought(*query.price_usd, "--price-usd, as given", query.terms);
    if (prices.system_usd) {
        Payment payment = bought(gpus * *prices.system_usd, prices.system_source, query.terms);
        payment.inputs = {"price.system_usd", "price.system_gpus"};
        return payment;
    }
    if (!prices.gpu_usd) return std::nullopt;
    Payment payment = bought(gpus * *prices.gpu_usd,
                             "the GPU alone, without a host; " + prices.gpu_source, query.terms);
    payment.gpu_alone = true;
    payment.inputs = {"price.gpu_usd"};
    return payment;
}

void add_others(CostAnswer& answer, const Prediction& report, const PriceList& prices,
                const CostQuery& query) {
    const auto add = [&](Payment payment) {
        if (answer.payment && payment.inputs == answer.payment->inputs) return;
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

RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms) {
    RunCost cost;
    cost.tokens = tokens;
    cost.usd_per_hour = payment.usd_per_hour;
    if (energy) {
        const double watts = energy->total() / report.step.seconds;
        cost.mean_w = watts;
        cost.tokens_per_joule = report.tokens_per_s() / watts;
        cost.tflops_per_kw = report.model_flops_per_s() / kTera / (watts / kKilo);
        if (payment.pays_electricity)
            cost.usd_per_hour +=
                watts / kKilo * terms.power_usage_effectiveness * terms.electricity_usd_per_kwh;
    }
    // A slower step takes proportionally more energy: power is assumed to be the same.
    const auto seconds = [&](Seconds step) { return tokens / report.tokens_per_s_at(step); };
    cost.days = banded(report, [&](Seconds step) { return seconds(step) / kDay; });
    cost.usd =
        banded(report, [&](Seconds step) { return seconds(step) / kHour * cost.usd_per_hour; });
    cost.usd_per_million_tokens = banded(report, [&](Seconds step) {
        return kMega / report.tokens_per_s_at(step) / kHour * cost.usd_per_hour;
    });
    if (cost.mean_w)
        cost.kwh = banded(
            report, [&](Seconds step) { return seconds(step) * *cost.mean_w / kJoulesPerKwh; });
    return cost;
}

Payment rented(const Offer& offer, double gpus) {
    Payment payment;
    payment.name = offer.name;
    payment.origin = fmt::format("{}, {}", offer_kind_name(offer.kind), offer.date);
    payment.usd_per_hour = gpus * offer.usd_per_hour;
    payment.inputs = {offer.path};
    return payment;
}

Payment bought(double price_usd, const std::string& origin, const OwnerTerms& terms) {
    Payment payment;
    payment.name = "bought";
    payment.origin = fmt::format("{} over {:g} years, {} of the hours; {}", format_usd(price_usd),
                                 terms.years, format_percent(terms.utilization), origin);
    payment.usd_per_hour = ownership_usd_per_hour(price_usd, terms);
    payment.pays_electricity = true;
    payment.price_usd = price_usd;
    return payment;
}

std::string format_usd(const Banded& usd) {
    if (usd.high == 0) return format_usd(usd.value);
    return fmt::format("{} (5 to 95%: {} to {})", format_usd(usd.value), format_usd(usd.low),
                       format_usd(usd.high));
}

std::string format_banded(const Banded& number, const char* unit) {
    const auto digits = [](double value) {
        return value >= 100 ? format_thousands(value) : fmt::format("{:.3g}", value);
    };
    if (number.high == 0) return fmt::format("{} {}", digits(number.value), unit);
    return fmt::format("{} {} ({} to {})", digits(number.value), unit, digits(number.low),
                       digits(number.high));
}

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
        payment.given = {query.usd_per_hour_flag,
                         fmt::format("{:g} USD an hour", *query.usd_per_hour)};
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
    if (query.price_usd)
        payment->given = {"--price-usd", fmt::format("{:.10g} USD", *query.price_usd)};
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
    answer.run = run_cost(report, answer.payment.value_or(Payment()), query.tokens, answer.energy,
                          query.terms);
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
